// SPDX-License-Identifier: Apache-2.0
// What RaisedPriority changes, and that it changes it back.
#include "isolation/raised_priority.hpp"

#include "isolation/temporary_folder.hpp"
#include "support/catch.hpp"

#include <fstream>
#include <string>
#include <sys/resource.h>

namespace {

using namespace benanza::isolation;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return text;
}

/// Whether the system permits this process, which has the usual priority, a higher one.
bool may_raise() {
  if (getpriority(PRIO_PROCESS, 0) != 0) return false;
  const bool may = setpriority(PRIO_PROCESS, 0, -1) == 0;
  if (may) REQUIRE(setpriority(PRIO_PROCESS, 0, 0) == 0);
  return may;
}

}  // namespace

TEST_CASE("the priority is raised where the system permits it, and restored") {
  const TemporaryFolder folder;
  const auto group = folder.path() / "autogroup";
  std::ofstream(group) << "/autogroup-7 nice 0\n";
  const bool may = may_raise();
  const int before = getpriority(PRIO_PROCESS, 0);
  {
    const RaisedPriority raised(group);
    CHECK(getpriority(PRIO_PROCESS, 0) == (may ? -20 : before));
    CHECK(text_of(group) == (may ? "-20" : "/autogroup-7 nice 0"));
  }
  CHECK(getpriority(PRIO_PROCESS, 0) == before);
  CHECK(text_of(group) == (may ? "0" : "/autogroup-7 nice 0"));
}

TEST_CASE("a group that a killed measurement left with the highest priority loses it") {
  const TemporaryFolder folder;
  const auto group = folder.path() / "autogroup";
  std::ofstream(group) << "/autogroup-7 nice -20\n";
  const bool may = may_raise();
  { const RaisedPriority raised(group); }
  CHECK(text_of(group) == (may ? "0" : "/autogroup-7 nice -20"));
}

TEST_CASE("a group that has a nice value keeps it, and no group is no error") {
  const TemporaryFolder folder;
  const auto group = folder.path() / "autogroup";
  std::ofstream(group) << "/autogroup-7 nice 5\n";
  { const RaisedPriority raised(group); }
  CHECK(text_of(group) == "/autogroup-7 nice 5");
  { const RaisedPriority raised(folder.path() / "absent"); }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "absent"));
}
