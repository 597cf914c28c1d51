// SPDX-License-Identifier: Apache-2.0
// From a signature to the plan that its reproducer runs.
#pragma once

#include <benanza/codegen.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace benanza::tool {

struct ReproducerOptions {
  std::string signature{};  ///< empty: no reproducer
  std::string plan{};       ///< `onednn/jit:avx2,threads=1`; empty: the best known
  std::filesystem::path database{};

  void add_to(CLI::App& app);
};

/// `backends`: libraries whose plans may be the best known. Throws InputError for a broken signature, and if no plan
/// was given and the database knows none; UsageError for a plan that does not name a backend, and if the database has
/// results of several GPUs.
[[nodiscard]] Reproducer make_reproducer(const ReproducerOptions& options, const std::vector<std::string>& backends);

}  // namespace benanza::tool
