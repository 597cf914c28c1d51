// SPDX-License-Identifier: Apache-2.0
// Any bytes are a profile or an error of Benanza's family; a profile holds only times that can be summed and references
// that are valid.
#include "memory_file.hpp"
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <cmath>
#include <cstdlib>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void require_times(const std::vector<benanza::Seconds>& times) {
  for (const auto time : times) require(std::isfinite(time.value) && time.value >= 0);
}

void require_consistent(const benanza::EngineProfile& profile) {
  require_times(profile.latencies);
  for (std::size_t i = 0; i < profile.records.size(); ++i) {
    const auto& record = profile.records[i];
    require_times(record.times);
    require(!record.parent || (*record.parent < profile.records.size() && *record.parent != i));
    require(record.place.file < profile.files.size());
  }
  for (const auto& call : profile.calls) {
    require(call.count >= 0 && call.place.file < profile.files.size());
    if (!call.signature.empty()) static_cast<void>(benanza::parse_layer(call.signature));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  const std::filesystem::path files[] = {file.path()};
  EngineProfile profile;
  try {
    profile = read_profile(files);
  } catch (const Error&) {
    return 0;
  }
  require_consistent(profile);
  return 0;
}
