// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/results/result_merge.hpp>
#include <benanza/results/results.hpp>
#include <benanza/results/whole_file.hpp>

#include <functional>
#include <unordered_map>

namespace benanza {

namespace fs = std::filesystem;

namespace {

/// Finds files by their contents.
class FilesByText {
 public:
  /// An earlier file with the same text, if there is one.
  [[nodiscard]] std::string find(const std::string& text) const {
    const auto [begin, end] = files_.equal_range(hash(text));
    for (auto at = begin; at != end; ++at)
      if (read_whole(at->second) == text) return at->second;
    return {};
  }
  void add(const std::string& text, std::string file) { files_.emplace(hash(text), std::move(file)); }

 private:
  static std::size_t hash(const std::string& text) { return std::hash<std::string>()(text); }
  std::unordered_multimap<std::size_t, std::string> files_{};
};

std::string stem_of(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view extension : {".gz", ".json"})
    if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  return name;
}

}  // namespace

ResultMerge merge_results(std::span<const fs::path> sources, const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& source : sources) {
    if (!fs::exists(source)) throw InputError(source.string() + ": no such file or folder");
    const auto found = result_files(source);
    files.insert(files.end(), found.begin(), found.end());
  }
  FilesByText contents;
  for (const auto& file : result_files(folder)) contents.add(read_whole(file), file);
  ResultMerge result;
  for (const auto& file : files) {
    try {
      static_cast<void>(read_run(file));
    } catch (const InputError& error) {
      result.refused.emplace_back(error.what());
      continue;
    }
    const std::string text = read_whole(file);
    if (std::string known = contents.find(text); !known.empty()) {
      result.known.push_back({file.string(), std::move(known)});
      continue;
    }
    const std::string target = write_new(folder, stem_of(file), ".json", text).string();
    contents.add(text, target);
    result.added.push_back({file.string(), target});
  }
  return result;
}

}  // namespace benanza
