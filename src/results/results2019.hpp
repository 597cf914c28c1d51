// SPDX-License-Identifier: Apache-2.0
// The two kinds of files that the original Benanza wrote; each has a source file of its own that reads it.
#pragma once

#include <benanza/results/results2019.hpp>

#include <filesystem>
#include <string>

namespace benanza::results {

/// Adds the rows of a database; `padding_2019` more bytes must follow `text`. Throws InputError.
void add_database_2019(const std::string& file, const std::string& text, Results2019& results);
inline constexpr std::size_t padding_2019 = 64;

/// Adds the rows of a printed table. Throws InputError.
void add_table_2019(const std::string& file, const std::string& text, const std::string& device, Results2019& results);

/// Sets the device of the results, or throws InputError if it differs from an earlier one; `where` names the place that
/// says so.
void settle_device_2019(Results2019& results, const std::string& device, const std::string& where);

}  // namespace benanza::results
