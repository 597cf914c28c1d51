// SPDX-License-Identifier: Apache-2.0
// A program that uses the library and is bound by an OpenMP runtime before it looks at its processors.
#include "plan/cpu_set.hpp"
#include "support/catch.hpp"
#include <benanza/plan/openmp_team.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace openmp_binding {

using namespace benanza;

TEST_CASE("what limits the processors is printed", "[.cpu_limit]") { std::printf("limit: %s\n", cpu_limit().c_str()); }

/// What this program reports of its processors when it is started with a variable.
std::string limit_with(const std::string& variable) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "env -u OMP_PROC_BIND -u OMP_PLACES -u GOMP_CPU_AFFINITY -u KMP_AFFINITY " + variable +
                              " '" + program + "' '[cpu_limit]'";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), size);
  CHECK(::pclose(pipe) == 0);
  return text;
}

TEST_CASE("the variable by which an OpenMP runtime bound the program is named", "[backend]") {
  if (!OpenmpTeam().exists() || cpus().size() < 2) return;  // no runtime, or too few processors to take one away
  // GNU's runtime binds the initial thread to the first of its places, which are single processors.
  CHECK_THAT(limit_with("OMP_PROC_BIND=true"),
             Catch::Contains("OpenMP's binding of threads (OMP_PROC_BIND) leaves 1 of "));
  CHECK_THAT(limit_with("OMP_PROC_BIND=false"), !Catch::Contains("OpenMP's binding"));
  CHECK_THAT(limit_with("OMP_NUM_THREADS=1"), !Catch::Contains("OpenMP's binding"));
}

}  // namespace openmp_binding
