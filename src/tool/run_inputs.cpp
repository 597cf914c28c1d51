// SPDX-License-Identifier: Apache-2.0
#include "run_inputs.hpp"

#include "execution/npy.hpp"
#include "validators.hpp"
#include <benanza/error.hpp>
#include <benanza/execution/random_tensor.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace benanza::tool {

std::map<std::string, std::filesystem::path> take_input_files(ModelOptions& options) {
  std::map<std::string, std::filesystem::path> files;
  std::erase_if(options.inputs, [&](const std::string& text) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      throw UsageError("--input: '" + text + "', expected NAME=FILE.npy or NAME=SHAPE");
    const std::string name = text.substr(0, at), value = text.substr(at + 1);
    if (value.find_first_not_of("0123456789x") == std::string::npos) return false;
    if (!files.try_emplace(name, value).second)
      throw UsageError("--input: '" + name + "' is given two files, '" + files.at(name).string() + "' and '" + value +
                       "'");
    return true;
  });
  for (const auto& [name, file] : files) {
    const NpyHeader header = read_npy_header(file);
    const std::string what = header.type ? described(*header.type, header.dims) : header.descr;
    options.input_arrays[name] = {.dims = header.dims, .described = file.string() + ": " + what};
  }
  return files;
}

bool is_state(const std::string& input) { return input.find("/state.") != std::string::npos; }

std::vector<std::string> inputs_without_file(const std::map<std::string, std::filesystem::path>& files,
                                             std::span<const TensorInfo> inputs, bool training) {
  std::vector<std::string> result;
  for (const auto& info : inputs)
    if (!files.contains(info.name) && !(training && is_state(info.name))) result.push_back(info.name);
  return result;
}

std::map<std::string, Tensor> read_inputs(const std::map<std::string, std::filesystem::path>& files,
                                          std::span<const TensorInfo> inputs, std::uint64_t seed, bool allow_nan) {
  std::string names;
  for (const auto& info : inputs) names += (names.empty() ? "'" : ", '") + info.name + "'";
  for (const auto& [name, file] : files) {
    const auto is_it = [&wanted = name](const TensorInfo& info) { return info.name == wanted; };
    if (std::none_of(inputs.begin(), inputs.end(), is_it))
      throw InputError("--input: the model has no input '" + name + "' (or --value says what it is), it has " +
                       (names.empty() ? "none" : names));
  }
  std::map<std::string, Tensor> result;
  for (const auto& info : inputs) {
    const auto found = files.find(info.name);
    if (found == files.end()) {
      result[info.name] = random_input(info.type, info.dims, info.name, seed);
      continue;
    }
    Tensor tensor = read_npy(found->second);
    if (tensor.type() != info.type || tensor.dims() != info.dims)
      throw InputError(found->second.string() + ": " + described(tensor.type(), tensor.dims()) + ", expected " +
                       described(info.type, info.dims) + " of input '" + info.name + "'");
    if (!allow_nan)
      for (std::int64_t i = 0; i < tensor.elements(); ++i)
        if (std::isnan(tensor[i]))
          throw InputError(found->second.string() + ": element " + std::to_string(i) + " of input '" + info.name +
                           "' is NaN; --allow-nan runs the model anyway");
    result[info.name] = std::move(tensor);
  }
  return result;
}

std::optional<std::uint64_t> weight_seed(const std::string& text) {
  constexpr std::string_view prefix = "random:";
  if (text.empty()) return std::nullopt;
  const auto seed =
      text.starts_with(prefix) ? whole_number(std::string_view(text).substr(prefix.size())) : std::nullopt;
  if (!seed) throw UsageError("--weights: '" + text + "', expected random:SEED with a whole number");
  return seed;
}

}  // namespace benanza::tool
