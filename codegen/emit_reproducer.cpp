// SPDX-License-Identifier: Apache-2.0
#include "emit_reproducer.hpp"

#include "writer.hpp"
#include <benanza/error.hpp>
#include <benanza/layer_signature.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>

namespace benanza {

namespace codegen {

PlanName parse_plan(std::string_view text) {
  PlanName plan;
  const auto fail = [&] {
    throw UsageError("plan '" + as_comment(text) + "', expected e.g. jit:avx2,src=aBcd8b,threads=1");
  };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    if (at == 0 && !part.empty()) plan.algorithm = part;
    else if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) fail();
    else plan.keys[std::string(part.substr(0, equals))] = part.substr(equals + 1);
    at = end + 1;
  }
  const auto plain = [](char c) { return as_word({&c, 1})[0] == c || c == ':'; };
  if (!std::all_of(plan.algorithm.begin(), plan.algorithm.end(), plain)) fail();
  const auto threads = plan.keys.find("threads");
  if (threads == plan.keys.end()) return plan;
  const std::string& count = threads->second;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), plan.threads);
  if (error != std::errc{} || end != count.data() + count.size() || plan.threads < 1) fail();
  plan.keys.erase(threads);
  return plan;
}

std::string reproducer_banner(const Reproducer& reproducer, std::string_view compile, std::string_view run) {
  std::string text = "// Made by `" + as_comment(reproducer.command) + "`.\n";
  text += "// Layer: " + signature(reproducer.layer).text() + "\n// Plan:  " + as_comment(reproducer.plan) + "\n//\n";
  return text + "//   " + std::string(compile) + "\n//   " + std::string(run) + "\n";
}

std::string filled(std::string_view text, const std::map<std::string_view, std::string>& places) {
  std::string result;
  while (!text.empty()) {
    const auto from = text.find('@');
    const auto to = from == std::string_view::npos ? from : text.find('@', from + 1);
    result += text.substr(0, from);
    if (to == std::string_view::npos) break;
    result += places.at(text.substr(from + 1, to - from - 1));
    text.remove_prefix(to + 1);
  }
  return result;
}

}  // namespace codegen

namespace {

struct Emitter {
  std::string_view backend;
  void (*emit)(const Reproducer&, std::ostream&);
};
/// THE list of libraries with reproducers.
constexpr std::array emitters{Emitter{"onednn", codegen::emit_onednn_reproducer}};

}  // namespace

bool has_reproducer(std::string_view backend) {
  return std::any_of(emitters.begin(), emitters.end(), [&](const Emitter& e) { return e.backend == backend; });
}

void emit_reproducer(const Reproducer& reproducer, std::ostream& out) {
  std::string known;
  for (const auto& emitter : emitters) {
    if (emitter.backend == reproducer.backend) return emitter.emit(reproducer, out);
    known += (known.empty() ? "" : ", ") + std::string(emitter.backend);
  }
  throw UsageError("backend '" + codegen::as_comment(reproducer.backend) + "' has no reproducers; there are those of " +
                   known);
}

}  // namespace benanza
