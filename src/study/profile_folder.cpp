// SPDX-License-Identifier: Apache-2.0
#include "profile_folder.hpp"

#include <benanza/error.hpp>
#include <benanza/results/csv_table.hpp>
#include <benanza/results/whole_file.hpp>
#include <benanza/study/make_study.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace benanza {

namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_name = "manifest.csv";

/// The name without the suffixes for the kind of file: `mxnet_b1_Squeezenet-v1.1` of
/// `mxnet_b1_Squeezenet-v1.1.nsys.sqlite.gz`.
std::string stem_of(std::string name) {
  constexpr std::array<std::string_view, 17> kinds{
      ".gz",    ".sqlite",  ".nsys",  ".log",    ".cudnn",  ".cublas",         ".csv",    ".json", ".txt", ".cublaslt",
      ".trace", ".profile", ".times", ".layers", ".kineto", ".cudnn_frontend", ".verbose"};
  for (bool found = true; found;) {
    found = false;
    for (const auto kind : kinds)
      if (name.size() > kind.size() && name.ends_with(kind)) {
        name.resize(name.size() - kind.size());
        found = true;
      }
  }
  return name;
}

std::optional<DataType> type_of(const std::string& word) {
  if (word == "float16" || word == "fp16" || word == "half") return DataType::f16;
  if (word == "float32" || word == "fp32") return DataType::f32;
  return data_type_from_name(word);
}

std::optional<std::int64_t> batch_of(const std::string& word) {
  for (const std::string_view prefix : {"batchsize", "batch", "bs", "b"}) {
    if (!word.starts_with(prefix) || word.size() == prefix.size()) continue;
    const std::string number = word.substr(prefix.size());
    if (number.find_first_not_of("0123456789") == std::string::npos && number.size() < 10) return std::stoll(number);
  }
  return std::nullopt;
}

/// The position of the model's name in the stem, and the model: the one with the longest name that occurs in the stem.
std::pair<std::size_t, std::string> model_in(const std::string& stem, const std::set<std::string>& models) {
  std::size_t begin = 0, longest = 0;
  std::string found;
  for (const auto& model : models) {
    const std::string wanted = plain_name(model);
    for (std::size_t at = 0; at < stem.size(); ++at) {
      if (at > 0 && plain_name(std::string(1, stem[at - 1])) != "") continue;  // within a word
      const std::string rest = plain_name(stem.substr(at));
      if (!rest.starts_with(wanted) || wanted.size() <= longest) continue;
      std::size_t end = at;
      for (std::size_t letters = 0; letters < wanted.size(); ++end)
        letters += plain_name(std::string(1, stem[end])).size();
      if (end < stem.size() && plain_name(std::string(1, stem[end])) != "") continue;  // `v10` is not `v1`
      longest = wanted.size();
      begin = at;
      found = model;
    }
  }
  return {begin, found};
}

std::optional<ProfiledRun> run_of_name(const std::string& name, const std::set<std::string>& models) {
  const std::string stem = stem_of(name);
  const auto [at, model] = model_in(stem, models);
  if (model.empty()) return std::nullopt;
  ProfiledRun run{.model = model};
  std::string word;
  for (std::size_t i = 0; i <= at; ++i) {
    if (i < at && stem[i] != '_') {
      word += stem[i];
      continue;
    }
    if (const auto batch = batch_of(word)) run.batch = *batch;
    else if (const auto type = type_of(word)) run.type = type;
    else if (!word.empty()) run.framework += (run.framework.empty() ? "" : " ") + word;
    word.clear();
  }
  return run;
}

std::map<std::string, ProfiledRun> read_manifest(const fs::path& file, const std::set<std::string>& models) {
  std::map<std::string, ProfiledRun> runs;
  if (!fs::exists(file)) return runs;
  const std::string text = read_whole(file);
  results::CsvTable table(file.string(), text);
  if (!table.has("file") || !table.has("model")) table.fail("no manifest: expected the columns file and model");
  while (table.next()) {
    const std::string name = table["file"], model = table["model"];
    const auto known = std::find_if(models.begin(), models.end(),
                                    [&](const auto& each) { return plain_name(each) == plain_name(model); });
    if (known == models.end()) continue;
    if (!fs::exists(file.parent_path() / name)) table.fail("'" + name + "' is not in the folder");
    ProfiledRun run{.model = *known, .framework = table["framework"], .device = table["device"]};
    if (!table["batch"].empty()) run.batch = table.positive("batch");
    if (!table["type"].empty()) {
      run.type = type_of(table["type"]);
      if (!run.type) table.fail("type is '" + table["type"] + "', expected e.g. f16");
    }
    runs[name] = std::move(run);
  }
  return runs;
}

bool is_printed_table(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.ends_with(".csv") && !name.ends_with(".csv.gz")) return false;
  return read_whole(file).starts_with("LayerName,LayerType,");
}

}  // namespace

ProfileFolder read_profile_folder(const std::string& folder, const std::set<std::string>& models) {
  if (!fs::is_directory(folder)) throw InputError(folder + ": expected a folder of profiles");
  const auto manifest = read_manifest(fs::path(folder) / manifest_name, models);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != manifest_name) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ProfileFolder made;
  using Key = std::tuple<std::string, std::string, std::string, std::int64_t, std::optional<DataType>>;
  std::map<Key, std::size_t> places;
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    const auto listed = manifest.find(name);
    auto run = listed != manifest.end() ? std::optional(listed->second) : run_of_name(name, models);
    if (!run) {
      made.notes.push_back(file.string() + ": of none of the models, by its name; a manifest.csv can say which");
      continue;
    }
    if (is_printed_table(file)) {
      run->files = {file};
      made.tables.push_back(std::move(*run));
      continue;
    }
    const auto [at, added] =
        places.try_emplace({run->model, run->framework, run->device, run->batch, run->type}, made.runs.size());
    if (added) made.runs.push_back(*run);
    made.runs[at->second].files.push_back(file);
  }
  return made;
}

}  // namespace benanza
