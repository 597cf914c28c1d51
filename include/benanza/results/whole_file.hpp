// SPDX-License-Identifier: Apache-2.0
// Files that are read or written whole: a reader sees the old contents or the new ones.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace benanza {

/// The contents of a file, unpacked if it is gzip, followed by space for `padding` more bytes. Throws InputError, also
/// for what is no regular file, and for more than 1 GiB.
[[nodiscard]] std::string read_whole(const std::filesystem::path& file, std::size_t padding = 0);

/// The same for a JSON file that describes something, such as a machine. Throws InputError for more than `most_mib`,
/// and for values nested more than 64 deep, which a recursive parser may not survive.
[[nodiscard]] std::string read_settings(const std::filesystem::path& file, std::size_t most_mib = 1);

/// Replaces a file: writes a temporary file in the same folder, waits until it is on the disk, and renames it. What is
/// not an ordinary file (a terminal, a pipe) is written to directly; a symbolic link stays one. Throws
/// EnvironmentError, in which case the old contents stay.
void write_whole(const std::filesystem::path& file, std::string_view text);

/// Writes a new file into a folder (created if absent) as `<stem><extension>`, or as `<stem>-2<extension>` ... if that
/// name is taken, even by another process at this moment. Returns its path. Throws EnvironmentError.
std::filesystem::path write_new(const std::filesystem::path& folder, const std::string& stem,
                                std::string_view extension, std::string_view text);

}  // namespace benanza
