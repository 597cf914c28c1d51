// SPDX-License-Identifier: Apache-2.0
#include "assumptions.hpp"

#include "engine_words.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

namespace benanza::gap {

namespace {

std::string ms_text(Seconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g ms", time.value * 1e3);
  return text;
}

std::string below_floor(const Analysis& analysis, const Gap& gap) {
  const auto floor = analysis[RungName::model_floor].bound;
  if (!floor || !gap.latency || floor->value <= 0 || *gap.latency >= *floor) return "";
  return ms_text(*gap.latency) + " is below the model floor of " + ms_text(*floor) +
         ": the engine computes something else (another type, fewer operations, another batch size), it uses more "
         "threads than the " +
         std::to_string(analysis.threads) + " of the bound, or the times are in another unit";
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_of_gpu(const ProfileRecord& record) {
  return record.activity == Activity::kernel || record.provider.starts_with("onednn gpu") ||
         is_one_of(record.provider,
                   {"tensorrt", "cuda", "CUDAExecutionProvider", "TensorrtExecutionProvider",
                    "NvTensorRTRTXExecutionProvider", "ROCMExecutionProvider", "MIGraphXExecutionProvider"});
}

bool is_of_cpu(const ProfileRecord& record) {
  return is_one_of(record.provider, {"CPUExecutionProvider", "DnnlExecutionProvider", "onednn cpu"});
}

/// The part of a GPU's name that identifies the model: the first word with a digit (`Tesla V100-SXM2-16GB`, `NVIDIA
/// H100 80GB HBM3`), otherwise all words except the vendor's.
std::string gpu_model(std::string_view name) {
  std::string word, all;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const auto c = i < name.size() ? static_cast<unsigned char>(name[i]) : static_cast<unsigned char>(' ');
    if (std::isalnum(c)) {
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    if (word.find_first_of("0123456789") != std::string::npos) return word;
    if (!is_one_of(word, {"nvidia", "amd", "corporation", "gpu"})) all += word;
    word.clear();
  }
  return all;
}

/// The mismatch, if the profile says what it ran on: a CPU against a GPU, or two GPUs of different names.
std::string other_device(const Machine& bound, const EngineProfile& profile) {
  if (bound.device.empty()) return "";
  const auto& records = profile.records;
  const bool on_gpu = profile.engine == "tensorrt" || std::any_of(records.begin(), records.end(), is_of_gpu);
  const bool on_cpu = !on_gpu && std::any_of(records.begin(), records.end(), is_of_cpu);
  const bool other_kind = bound.is_device() ? on_cpu : on_gpu;
  const bool other_gpu =
      on_gpu && bound.is_device() && !profile.device.empty() && gpu_model(profile.device) != gpu_model(bound.device);
  if (!other_kind && !other_gpu) return "";
  const std::string there = on_cpu ? "a CPU" : profile.device.empty() ? "a GPU" : profile.device;
  return "another device: the engine ran on " + there + ", the bound is of " + bound.device;
}

std::string count_text(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// A record that works on tensors as layers do, but matches no layer.
bool is_foreign(const MatchedRecord& record, const ProfileRecord& said) {
  const bool computes = record.cause == Cause::extra_calls || record.cause == Cause::unmatched;
  const auto kinds = kinds_of(said);
  const bool pads = kinds.size() == 1 && kinds[0] == "Pad";
  return record.counted && !record.group && record.layers.empty() && computes && !pads;
}

/// Why a profile that serves the model must also contain another model; empty if it need not.
std::string second_model(const Gap& gap, const EngineProfile& profile) {
  constexpr double tolerated = 0.25;  // share of the latency
  std::size_t foreign = 0, counted = 0, irregular = 0;
  Seconds time{};
  for (const auto& record : gap.records) {
    const ProfileRecord& said = profile.records[record.record];
    if (!record.counted) continue;
    ++counted;
    const auto& starts = said.starts_s;
    if (std::any_of(starts.begin(), starts.end(), [](float start) { return std::isnan(start); })) ++irregular;
    if (!is_foreign(record, said)) continue;
    ++foreign;
    time += record.time;
  }
  if (time > *gap.latency * tolerated)
    return count_text(foreign, "record") + ", " + ms_text(time) + ", match no layer: another model's?";
  if (2 * irregular > counted)
    return std::to_string(irregular) + " of " + count_text(counted, "record") +
           " are not in every pass: two models, or two sizes, in one file?";
  return "";
}

/// How many nodes layers name of which the model has none; 0 if there are few, or if most of the time is known to be
/// that of layers of the model by their shapes or their order. TensorRT names what it makes of several nodes itself.
std::size_t strange_nodes(const Gap& gap, const EngineProfile& profile) {
  constexpr std::size_t few = 4;
  std::set<std::string> named;
  Seconds known{}, guessed{};
  for (const auto& record : gap.records) {
    if (!record.counted) continue;
    const bool by_order = record.by == MatchedBy::order || record.by == MatchedBy::shape;
    if (!by_order && record.by != MatchedBy::kernel_class && record.by != MatchedBy::nothing) return 0;
    (by_order ? known : guessed) += record.time;
    const ProfileRecord& said = profile.records[record.record];
    if (said.activity == Activity::layer && !said.name.starts_with("__myl") && !said.name.starts_with("{ForeignNode"))
      named.insert(said.nodes.begin(), said.nodes.end());
  }
  return named.size() < few || known >= guessed ? 0 : named.size();
}

/// The part of a convolution's signature that does not depend on the type, on padding done before it, or on what is
/// fused: batch, channels, weight, strides, dilations and groups.
std::string conv_shape(std::string_view signature) {
  std::string shape;
  for (std::size_t at = 0; at < signature.size();) {
    const std::size_t end = std::min(signature.find('/', at), signature.size());
    std::string_view part = signature.substr(at, end - at);
    at = end + 1;
    if (part.starts_with("x=")) part = part.substr(0, part.find('x', part.find('x', 2) + 1));
    else if (part.find('=') == std::string_view::npos || part.starts_with("pads=") || part.starts_with("post="))
      continue;
    shape.append(part).append("/");
  }
  return shape;
}

/// The convolutions of an API log belong to the model; otherwise, it is the log of another run.
void find_foreign_calls(Gap& gap, const Analysis& analysis, const EngineProfile& profile) {
  std::set<std::string> known;
  for (const auto& row : analysis.rows) known.insert(conv_shape(row.signature));
  std::size_t calls = 0, foreign = 0;
  std::string example;
  for (const auto& call : profile.calls) {
    if (!call.signature.starts_with("Conv/")) continue;
    ++calls;
    if (known.contains(conv_shape(call.signature))) continue;
    if (foreign++ == 0) example = call.signature;
  }
  if (2 * foreign > calls)
    gap.deviations.push_back(std::to_string(foreign) + " of " + count_text(calls, "convolution") +
                             " in the API log are not layers of the model, e.g. " + example +
                             ": the log of another run?");
}

}  // namespace

std::string why_outside(const Analysis& analysis, const EngineProfile& profile, const Gap& gap) {
  const std::string device = other_device(analysis.machine, profile);
  return device.empty() ? below_floor(analysis, gap) : device;
}

void settle_claims(Gap& gap, const Analysis& analysis, const EngineProfile& profile, const RecordTimes& times) {
  const auto take_gap_back = [&](std::string why) {
    gap.outside = std::move(why);
    gap.gap.reset();
    gap.parts.clear();
  };
  find_foreign_calls(gap, analysis, profile);
  if (gap.groups.empty()) {
    gap.total_only = "no record serves a layer of the model: the profile of another model?";
    gap.parts.clear();
    if (gap.latency_of_records) take_gap_back(gap.total_only + ", and the latency is their sum");
    return;
  }
  if (const std::string second = second_model(gap, profile); !second.empty()) {
    take_gap_back(second);
    return;
  }
  if (gap.unreadable > 0)
    gap.warnings.push_back(count_text(gap.unreadable, "record") +
                           " cannot be read, and the total is the sum of records: the engine is slower than it");
  else if (profile.unreadable > 0 && profile.unreadable >= gap.passes)
    gap.warnings.push_back(
        count_text(profile.unreadable, "record") +
        " cannot be read, which may be all those of a layer: layers that seem faster than the bound, "
        "and those in no record, are unexplained");
  if (gap.incomplete && !gap.not_found.empty())
    gap.warnings.push_back(count_text(gap.not_found.size(), "layer") +
                           " in no record, and the total is the sum of records: the file may be cut off");
  constexpr double least_served = 0.5;
  Seconds served{};
  for (const auto& group : gap.groups) served += group.bound;
  if (served < *gap.bound * least_served) {
    gap.deviations.push_back("the records serve layers that take " + ms_text(served) + " of the bound's " +
                             ms_text(*gap.bound) + ": the profile of another model, or of a part of this one?");
    gap.unclaimed = true;
  }
  if (const std::size_t strange = strange_nodes(gap, profile); strange > 0) {
    const std::string why =
        "the model has none of " + count_text(strange, "node") + " that are named: the profile of another model?";
    if (profile.engine.empty()) gap.warnings.push_back(why);  // a table whose names may be anything
    else gap.deviations.push_back(why);
    gap.unclaimed = gap.unclaimed || !profile.engine.empty();
  }
  // Where nothing overlaps on a lane, records cannot take longer than the run, apart from a small cost of the profiler.
  constexpr double doubtful = 1.1, absurd = 2;
  const Seconds taken = times.latency - times.rest - times.between;
  if (taken <= *gap.latency * doubtful) return;
  const std::string why = "the records take " + ms_text(taken) + " of a latency of " + ms_text(*gap.latency) +
                          ": another unit, or another run";
  if (taken > *gap.latency * absurd) {
    gap.total_only = why;
    gap.parts.clear();
    gap.groups.clear();
    gap.records.clear();
    return;
  }
  gap.deviations.push_back(why);
  gap.unclaimed = true;
}

}  // namespace benanza::gap
