// SPDX-License-Identifier: Apache-2.0
// Where results are kept unless the user says otherwise.
#pragma once

#include <filesystem>

namespace benanza {

/// The user's cache folder according to the XDG Base Directory specification: `$XDG_CACHE_HOME/benanza/results`, or
/// `~/.cache/benanza/results`. Without `HOME`, the home folder is that of the user database.
[[nodiscard]] std::filesystem::path default_database();

}  // namespace benanza
