// SPDX-License-Identifier: Apache-2.0
// Files that are read or written whole: a reader sees the old contents or the new ones.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace benanza {

/// The contents of a file, unpacked if it is gzip, with room for `padding` more bytes after them. Throws InputError.
[[nodiscard]] std::string read_whole(const std::filesystem::path& file, std::size_t padding = 0);

/// Replaces a file: writes a temporary one in the same folder, waits until it is on the disk, renames it. What is not
/// an ordinary file (a terminal, a pipe) is written to directly; a symbolic link stays one. Throws EnvironmentError,
/// and leaves the old contents then.
void write_whole(const std::filesystem::path& file, std::string_view text);

/// Writes a new file into a folder (created if absent) as `<stem><extension>`, or `<stem>-2<extension>` ... where that
/// name is taken, be it by another process at this moment. Returns its path. Throws EnvironmentError.
std::filesystem::path write_new(const std::filesystem::path& folder, const std::string& stem,
                                std::string_view extension, std::string_view text);

}  // namespace benanza
