// SPDX-License-Identifier: Apache-2.0
// From a signature to the plan that its reproducer runs.
#pragma once

#include <benanza/codegen.hpp>

#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace benanza::tool {

struct ReproducerOptions {
  std::string signature{};  ///< empty: none is wanted
  std::string plan{};       ///< `onednn/jit:avx2,threads=1`; empty: the best known
  std::filesystem::path database{};

  void add_to(CLI::App& app);
};

/// Throws InputError for a broken signature, and when no plan was given and the database knows none; UsageError for a
/// plan that names no backend.
[[nodiscard]] Reproducer make_reproducer(const ReproducerOptions& options);

}  // namespace benanza::tool
