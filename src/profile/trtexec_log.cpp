// SPDX-License-Identifier: Apache-2.0
// The log of TensorRT's trtexec, for what its exports do not contain: a median of the time on the GPU, over all passes.
#include "reader.hpp"
#include <benanza/error.hpp>

#include <charconv>
#include <optional>

namespace benanza::profile {

namespace {

/// `median = 0.474 ms`
std::optional<double> value_of(std::string_view line, std::string_view key) {
  auto at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  at += key.size();
  double value = 0;
  const auto read = std::from_chars(line.data() + at, line.data() + line.size(), value);
  const std::string_view unit = line.substr(static_cast<std::size_t>(read.ptr - line.data()));
  if (read.ec != std::errc{} || !unit.starts_with(" ms")) return std::nullopt;
  return value;
}

/// The text after the mark, up to the end of the line or a bracket.
std::string_view behind(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + mark.size());
  rest = rest.substr(0, rest.find(']'));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  return rest;
}

EngineProfile read_trtexec_log(Source& source, const ProfileOptions&) {
  EngineProfile made{.engine = "tensorrt"};
  Lines lines(source);
  for (std::string_view line; lines.next(line);) {
    if (const auto device = behind(line, "Selected Device: "); !device.empty()) made.device = device;
    if (const auto version = behind(line, "TensorRT version: "); !version.empty()) made.version = version;
    if (line.find("GPU Compute Time: min") == std::string_view::npos) continue;
    const auto median = value_of(line, "median = ");
    if (!median || !(*median >= 0)) source.fail(lines.position(), "'GPU Compute Time' without 'median = ... ms'");
    if (!made.latencies.empty()) source.fail(lines.position(), "a second 'GPU Compute Time': the logs of two runs");
    made.latencies = {milliseconds(*median)};
    made.warnings.push_back(source.place(lines.position()) +
                            ": the log holds the median of the passes only: no spread");
  }
  if (made.latencies.empty())
    throw InputError(source.path().string() + ": a log of trtexec without 'GPU Compute Time': it did not finish");
  return made;
}

bool sniff_trtexec_log(std::string_view head) {
  return head.find("&&&& RUNNING TensorRT.trtexec") != std::string_view::npos ||
         head.find("GPU Compute Time: min") != std::string_view::npos;
}

}  // namespace

const Reader trtexec_log{"trtexec log", sniff_trtexec_log, read_trtexec_log};

}  // namespace benanza::profile
