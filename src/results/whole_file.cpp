// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/results/detail/source.hpp>
#include <benanza/results/whole_file.hpp>

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace benanza {

namespace fs = std::filesystem;

namespace {

std::string cause(int number) { return std::generic_category().message(number); }

[[noreturn]] void cannot_write(const fs::path& file, int number) {
  throw EnvironmentError("cannot write '" + file.string() + "': " + cause(number));
}

/// A file being written. An error is kept, as the system's number, until it is queried.
class Output {
 public:
  /// An existing file, which is written in place.
  static Output open(const fs::path& file) { return {file, ::open(file.c_str(), O_WRONLY | O_CLOEXEC), false}; }
  /// A new file, which is removed again unless it is kept; empty if there is a file of that name.
  static std::optional<Output> create(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) return std::nullopt;
    return Output(file, descriptor, true);
  }
  Output(Output&& other) noexcept
      : file_(std::move(other.file_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        temporary_(other.temporary_),
        error_(other.error_) {}
  Output& operator=(Output&&) = delete;
  ~Output() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (temporary_) ::unlink(file_.c_str());
  }

  void write(std::string_view text) {
    while (error_ == 0 && !text.empty()) {
      const ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count >= 0) text.remove_prefix(static_cast<std::size_t>(count));
      else if (errno != EINTR) error_ = errno;
    }
  }
  /// Waits for the disk and renames the file.
  void keep_as(const fs::path& name) {
    if (error_ == 0 && ::fsync(descriptor_) != 0) error_ = errno;
    if (error_ == 0 && ::rename(file_.c_str(), name.c_str()) != 0) error_ = errno;
    temporary_ = error_ != 0;
  }
  /// 0 if nothing failed.
  [[nodiscard]] int error() const { return error_; }

 private:
  Output(const fs::path& file, int descriptor, bool temporary)
      : descriptor_(descriptor), temporary_(temporary), error_(descriptor < 0 ? errno : 0) {
    file_ = file;
  }
  fs::path file_{};
  int descriptor_ = -1;
  bool temporary_ = false;
  int error_ = 0;
};

fs::path temporary_name(const fs::path& file) {
  return file.parent_path() / ("." + file.filename().string() + "." + std::to_string(::getpid()) + ".tmp");
}

}  // namespace

std::string read_whole(const fs::path& file, std::size_t padding) {
  constexpr std::size_t most = std::size_t{1} << 30;
  results::Source source(file);
  std::string text;
  for (std::string_view part = source.next(); !part.empty(); part = source.next()) {
    if (text.size() + part.size() + padding > most)
      throw InputError(file.string() + ": cannot be read: it holds more than 1 GiB");
    text += part;
  }
  text.reserve(text.size() + padding);
  return text;
}

std::string read_settings(const fs::path& file, std::size_t most_mib) {
  constexpr std::size_t deepest = 64;
  const auto refuse = [&file](const std::string& why) { throw InputError(file.string() + ": " + why); };
  results::Source source(file);
  std::string text;
  std::size_t depth = 0;
  bool quoted = false, escaped = false;
  for (std::string_view part = source.next(); !part.empty(); part = source.next()) {
    if (text.size() + part.size() > most_mib << 20)
      refuse("more than " + std::to_string(most_mib) + " MiB, expected a file of settings");
    text += part;
    for (const char c : part) {
      if (quoted) {
        quoted = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') quoted = true;
      else if ((c == '{' || c == '[') && ++depth > deepest)
        refuse("nested more than " + std::to_string(deepest) + " deep, expected a file of settings");
      else if ((c == '}' || c == ']') && depth > 0) --depth;
    }
  }
  return text;
}

void write_whole(const fs::path& file, std::string_view text) {
  std::error_code ignored;
  const auto status = fs::status(file, ignored);
  if (fs::is_directory(status)) cannot_write(file, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    auto output = Output::open(file);
    output.write(text);
    if (output.error() != 0) cannot_write(file, output.error());
    return;
  }
  const fs::path target =
      fs::is_symlink(fs::symlink_status(file, ignored)) ? fs::weakly_canonical(file, ignored) : file;
  const fs::path temporary = temporary_name(target);
  ::unlink(temporary.c_str());  // may be left by a process with the same number that was killed
  auto output = Output::create(temporary);
  if (!output) cannot_write(file, EEXIST);
  output->write(text);
  if (fs::exists(status)) ::chmod(temporary.c_str(), static_cast<mode_t>(status.permissions()));
  output->keep_as(target);
  if (output->error() != 0) cannot_write(file, output->error());
}

fs::path write_new(const fs::path& folder, const std::string& stem, std::string_view extension, std::string_view text) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw EnvironmentError("cannot create the folder '" + folder.string() + "': " + failed.message());
  for (int attempt = 1;; ++attempt) {
    const fs::path file =
        folder / (stem + (attempt == 1 ? "" : "-" + std::to_string(attempt)) + std::string(extension));
    // The process that creates the temporary file owns the name. The check for the file itself must come after that,
    // since the owner may just have renamed its file.
    auto output = Output::create(folder / ("." + file.filename().string() + ".tmp"));
    if (!output || fs::exists(fs::symlink_status(file, failed))) continue;
    output->write(text);
    output->keep_as(file);
    if (output->error() != 0) cannot_write(file, output->error());
    return file;
  }
}

}  // namespace benanza
