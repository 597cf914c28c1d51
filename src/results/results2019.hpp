// SPDX-License-Identifier: Apache-2.0
// The two kinds of files that the original Benanza left, each read by a file of its own.
#pragma once

#include <benanza/results/results2019.hpp>

#include <filesystem>
#include <string>

namespace benanza::results {

/// Adds the rows of a database; `text` has `padding_2019` more bytes behind it. Throws InputError.
void add_database_2019(const std::string& file, const std::string& text, Results2019& results);
inline constexpr std::size_t padding_2019 = 64;

/// Adds the rows of a printed table. Throws InputError.
void add_table_2019(const std::string& file, const std::string& text, const std::string& device, Results2019& results);

/// Sets the device of the results, or throws InputError: `where` names another one than what came before.
void settle_device_2019(Results2019& results, const std::string& device, const std::string& where);

}  // namespace benanza::results
