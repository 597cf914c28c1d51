// SPDX-License-Identifier: Apache-2.0
// The runs of engines whose profiles, API logs and printed tables are in a folder, matched to models by the names of
// the files or by a manifest.
#pragma once

#include <benanza/model/data_type.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza {

/// Files of one run: those with equal model, framework, device, batch and type.
struct ProfiledRun {
  std::string model{}, framework{};
  std::string device{};  ///< empty if neither name nor manifest gives it
  std::int64_t batch = 1;
  std::optional<DataType> type{};  ///< that the engine computed in; empty: the model's own
  std::vector<std::filesystem::path> files{};
};

struct ProfileFolder {
  std::vector<ProfiledRun> runs{};    ///< runs of an engine
  std::vector<ProfiledRun> tables{};  ///< what the original of 2019 printed, one file each
  std::vector<std::string> notes{};   ///< files that belong to no model, one line each
};

/// A file's name is `FRAMEWORK[_TYPE]..._bBATCH_MODEL.KIND`, such as `mxnet_f16_b32_ResNet050-v1.cudnn.log.gz`; the
/// model is the longest of `models` in it, ignoring case and punctuation. A file `manifest.csv` in the folder gives
/// this instead for the files that it lists: columns `file` and `model`, and `framework`, `device`, `batch`, `type` if
/// they are known. Throws InputError if `folder` is not a folder or the manifest is wrong.
[[nodiscard]] ProfileFolder read_profile_folder(const std::string& folder, const std::set<std::string>& models);

}  // namespace benanza
