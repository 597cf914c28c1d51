// SPDX-License-Identifier: Apache-2.0
#include "engine_library.hpp"

#include "engine_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace benanza::gap {

namespace {

struct Word {
  std::string_view text, library;
};
// The names that providers, operators and kernels use, in lower case; the first match decides. oneDNN used to be
// MKL-DNN and DNNL; its backend here is the processor's.
constexpr Word words[] = {{"onednn gpu", ""}, {"onednn", "onednn"}, {"mkldnn", "onednn"},
                          {"dnnl", "onednn"}, {"cudnn", "cudnn"},   {"cublas", "cublas"}};

std::string lower(const std::string& text) {
  std::string result;
  for (const char c : text) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// OpenVINO's CPU plugin takes these layers from oneDNN when a generated kernel runs them; it generates other layers
/// itself.
bool is_onednn_of_openvino(const ProfileRecord& record) {
  constexpr std::array<std::string_view, 6> from_onednn{"Conv", "ConvTranspose", "MatMul", "Pool", "Lrn", "Recurrent"};
  const auto kinds = kinds_of(record);
  return !kinds.empty() && std::find(from_onednn.begin(), from_onednn.end(), kinds.front()) != from_onednn.end() &&
         (record.algorithm.starts_with("brg") || record.algorithm.starts_with("jit"));
}

}  // namespace

std::string_view library_of(const ProfileRecord& record) {
  if (record.provider == "tensorrt") return {};  // its own kernels, some of which have cuDNN's names
  if (record.provider == "openvino") return is_onednn_of_openvino(record) ? "onednn" : "";
  // The name of a layer that has nodes comes from the model's author.
  for (const std::string* text :
       {&record.provider, &record.op, &record.algorithm, record.nodes.empty() ? &record.name : &record.op}) {
    const std::string said = lower(*text);
    for (const Word& word : words)
      if (said.find(word.text) != std::string::npos) return word.library;
  }
  return {};
}

std::vector<LibraryTime> time_by_library(const EngineProfile& profile, const RecordTimes& times) {
  constexpr const char* other = "other";
  std::map<std::string, LibraryTime> sums;
  for (std::size_t r = 0; r < times.own.size(); ++r) {
    if (!times.counted[r] || times.own[r].value <= 0) continue;
    const ProfileRecord& record = profile.records[r];
    std::string library = !record.library.empty() ? record.library : std::string(library_of(record));
    if (library.empty()) library = other;
    LibraryTime& sum = sums[library];
    sum.library = library;
    sum.time += times.own[r];
    ++sum.records;
  }
  std::vector<LibraryTime> result;
  if (sums.empty() || (sums.size() == 1 && sums.contains(other))) return result;
  for (auto& [library, sum] : sums) result.push_back(std::move(sum));
  std::stable_sort(result.begin(), result.end(),
                   [](const LibraryTime& a, const LibraryTime& b) { return a.time > b.time; });
  return result;
}

std::string onednn_kernel(std::string_view implementation) {
  constexpr std::array<std::string_view, 5> families{"1x1", "dw", "gemm", "jit", "ref"};
  constexpr std::array<std::string_view, 5> sets{"sse4", "avx", "avx2", "avx512", "amx"};  // each extends the last
  std::set<std::string, std::less<>> family;
  std::size_t widest = 0;  // index into `sets`, from 1
  while (!implementation.empty()) {
    const std::size_t end = std::min(implementation.find_first_of("_:"), implementation.size());
    const std::string_view word = implementation.substr(0, end);
    implementation.remove_prefix(std::min(end + 1, implementation.size()));
    if (word.starts_with("brg") || word == "brdgmm") family.emplace("brg");  // brgconv, brgemm, brg_matmul
    else if (word.starts_with("wino")) family.emplace("wino");
    else if (std::find(families.begin(), families.end(), word) != families.end()) family.emplace(word);
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (word == sets[i] || (i == 0 && word.starts_with(sets[i]))) widest = std::max(widest, i + 1);
  }
  if (family.empty()) return {};
  std::string result;
  for (const auto& each : family) result += each + ' ';
  return widest > 0 ? result.append(sets[widest - 1]) : result;
}

}  // namespace benanza::gap
