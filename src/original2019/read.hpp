// SPDX-License-Identifier: Apache-2.0
// The two kinds of files that the original Benanza wrote; each has a source file of its own that reads it.
#pragma once

#include <benanza/original2019/results.hpp>

#include <filesystem>
#include <string>

namespace benanza::original2019 {

/// Adds the rows of a database; `text_padding` more bytes must follow `text`. Throws InputError.
void add_database(const std::string& file, const std::string& text, Results& results);
inline constexpr std::size_t text_padding = 64;

/// Adds the rows of a printed table. Throws InputError.
void add_table(const std::string& file, const std::string& text, const std::string& device, Results& results);

/// Sets the device of the results, or throws InputError if it differs from an earlier one; `where` names the place that
/// says so.
void settle_device(Results& results, const std::string& device, const std::string& where);

}  // namespace benanza::original2019
