// SPDX-License-Identifier: Apache-2.0
// Suites that stand alone, and reproducers, which are such a suite of one layer and one plan in one file.
#include "standalone.hpp"
#include "standalone_templates.hpp"
#include "writer.hpp"
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <ostream>
#include <set>

namespace benanza {

namespace codegen {

namespace {

/// A header that families share, and what it includes of the others.
struct StandaloneHeader {
  std::string_view name{}, text{}, below{};
};
const StandaloneHeader& header_of(std::string_view name) {
  static const std::array headers{StandaloneHeader{"suite.hpp", text::suite_hpp},
                                  StandaloneHeader{"processor.hpp", text::processor_hpp, "suite.hpp"},
                                  StandaloneHeader{"onednn.hpp", text::onednn_hpp, "processor.hpp"},
                                  StandaloneHeader{"device.hpp", text::device_hpp, "suite.hpp"},
                                  StandaloneHeader{"cudnn.hpp", text::cudnn_hpp, "device.hpp"},
                                  StandaloneHeader{"cudnn_legacy.hpp", text::cudnn_legacy_hpp, "cudnn.hpp"}};
  return *std::find_if(headers.begin(), headers.end(), [&](const auto& header) { return header.name == name; });
}

/// How a library is found and linked.
struct StandaloneLibrary {
  std::string_view backend{};
  bool on_device = false;
  std::string_view cmake{};  ///< what finds it and links it to `suite`
};
const std::array standalone_libraries{
    StandaloneLibrary{"onednn", false, text::cmake_onednn}, StandaloneLibrary{"openblas", false, text::cmake_openblas},
    StandaloneLibrary{"cudnn", true, text::cmake_cudnn}, StandaloneLibrary{"cublas", true, text::cmake_cublas}};

const StandaloneLibrary* library_of(std::string_view backend) {
  const auto found = std::find_if(standalone_libraries.begin(), standalone_libraries.end(),
                                  [&](const auto& library) { return library.backend == backend; });
  return found == standalone_libraries.end() ? nullptr : &*found;
}

using Places = std::map<std::string_view, std::string>;

/// The template with each `@name@` replaced by its text.
std::string filled(std::string_view text, const Places& places) {
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

Places places_of(std::string_view suite, bool on_device, std::string_view plan) {
  return {{"suite", as_word(suite)},
          {"plan", std::string(plan)},
          {"caches", plan.empty() ? "Cache::hot, Cache::cold_weights" : "Cache::hot"},
          {"default_caches", plan.empty() ? "the first two" : "hot"},
          {"clock", on_device ? "UseManualTime" : "UseRealTime"},
          {"device_header", on_device ? "device.hpp" : "processor.hpp"},
          {"signature_version", std::to_string(LayerSignature::version)}};
}

std::string row_text(const Layer& layer, const std::string& fields, const std::string& comment) {
  const Cost cost = benanza::cost(layer);
  std::int64_t items = 0;
  for (const auto& output : operands(layer).outputs) items += output.elements();
  return comment + fmt::format("    {{.signature = \"{}\", .work = {{{:.0f}, {:.0f}, {}}}, {}}},\n",
                               LayerSignature(layer).text(), cost.flops.value, cost.bytes().value, items, fields);
}

std::string comment_of(const UniqueLayer& unique) {
  std::string text;
  for (const auto& user : unique.users)
    text += "    // " + as_comment(user.model + " " + occurrences(user) + ": " + user.node) + "\n";
  return text;
}

std::string declaration(const StandaloneFamily& family) { return "void add_" + std::string(family.name) + "();\n"; }

/// Throws UsageError for a text that is not a plan's name: `jit:avx2,src=aBcd8b,threads=2`.
void check_plan_name(std::string_view text) {
  bool good = !text.empty() && as_comment(text) == text;
  for (std::size_t at = 0; at <= text.size() && good;) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at), key = part.substr(0, part.find('='));
    const auto plain = [](char c) { return as_word({&c, 1})[0] == c || c == ':' || c == '='; };
    const bool has_value = key.size() + 1 < part.size();
    good = !key.empty() && std::all_of(part.begin(), part.end(), plain) && (at == 0 || has_value);
    if (good && key == "threads") {
      int count = 0;
      const auto [stop, error] = std::from_chars(part.data() + key.size() + 1, part.data() + part.size(), count);
      good = error == std::errc{} && stop == part.data() + part.size() && count > 0;
    }
    at = end + 1;
  }
  if (!good) throw UsageError("plan '" + as_comment(text) + "', expected e.g. jit:avx2,src=aBcd8b,threads=1");
}

/// Without the include lines of the project's own headers, which stand before it in the one file.
std::string without_own_includes(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (!line.starts_with("#include \"") && !line.starts_with("#pragma once")) result += line;
    at = end;
  }
  return result;
}

}  // namespace

}  // namespace codegen

bool can_stand_alone(std::string_view backend) { return codegen::library_of(backend) != nullptr; }

std::vector<SourceFile> standalone_suite(const SuiteSource& source) {
  using namespace codegen;
  bool on_device = false, on_processor = false;
  for (const auto& backend : source.backends) {
    const auto* library = library_of(backend);
    if (library == nullptr)
      throw UsageError("backend '" + as_comment(backend) +
                       "' has kernels of Benanza's own: a suite that stands alone has none");
    (library->on_device ? on_device : on_processor) = true;
  }
  if (on_device == on_processor)
    throw UsageError("a suite measures one device: libraries of the processor, or of a GPU");
  const std::string banner = "// Generated by `" + as_comment(source.command) + "`. Do not edit.\n";
  const Places places = places_of(source.name, on_device, "");

  std::map<std::string_view, std::string> rows;  // by the name of their family
  std::string refusals;
  for (const auto& [signature, unique] : source.layers.layers()) {
    if (is_free(unique.layer) || is_opaque(unique.layer)) continue;
    for (const auto& backend : source.backends) {
      bool offered = false;
      std::string reasons;
      for (const auto& family : standalone_families()) {
        if (family.backend != backend) continue;
        try {
          const auto fields = family.row(unique.layer);
          if (!fields) continue;
          rows[family.name] += row_text(unique.layer, *fields, comment_of(unique));
          offered = true;
        } catch (const NoRow& refused) {
          reasons += (reasons.empty() ? "" : "; ") + std::string(refused.what());
        }
      }
      if (offered) continue;
      if (reasons.empty())
        reasons = "this suite calls no function of " + backend + " for " + std::string(kind(unique.layer));
      refusals += fmt::format("    {{\"{}/none\", \"{}\", \"{}\"}},\n", backend, signature.text(), as_comment(reasons));
    }
  }

  std::vector<SourceFile> files;
  std::set<std::string_view> headers;
  std::string declarations, adds, sources = "  main.cpp\n";
  for (const auto& family : standalone_families()) {
    const auto found = rows.find(family.name);
    if (found == rows.end()) continue;
    Places own = places;
    own["rows"] = found->second;
    files.push_back({std::string(family.name) + ".cpp", banner + filled(family.text, own)});
    declarations += declaration(family);
    adds += "    add_" + std::string(family.name) + "();\n";
    sources += "  " + std::string(family.name) + ".cpp\n";
    for (std::string_view header = family.header; !header.empty(); header = header_of(header).below)
      headers.insert(header);
  }
  if (!refusals.empty()) {
    Places own = places;
    own["rows"] = refusals;
    files.push_back({"refusals.cpp", banner + filled(text::refusals_cpp, own)});
    declarations += "void add_refusals();\n";
    adds += "    add_refusals();\n";
    sources += "  refusals.cpp\n";
  }
  for (std::string_view header : {on_device ? "device.hpp" : "processor.hpp", "suite.hpp"}) headers.insert(header);
  for (const auto header : headers)
    files.push_back({std::string(header), banner + filled(header_of(header).text, places)});
  Places own = places;
  own["declarations"] = declarations;
  own["adds"] = adds;
  files.push_back({"main.cpp", banner + filled(text::main_cpp, own)});
  const std::string precompiled = on_device                        ? "device.hpp"
                                  : headers.contains("onednn.hpp") ? "onednn.hpp"
                                                                   : "processor.hpp";
  std::string libraries;
  for (const auto& library : standalone_libraries)
    if (std::find(source.backends.begin(), source.backends.end(), library.backend) != source.backends.end())
      libraries += library.cmake;
  const std::string hash_banner = "# Generated by `" + as_comment(source.command) + "`. Do not edit.\n";
  files.push_back(
      {"CMakeLists.txt",
       hash_banner + filled(text::cmake_lists, {{"sources", sources},
                                                {"libraries", libraries},
                                                {"precompiled", precompiled},
                                                {"cuda", on_device ? std::string(text::cmake_device) : ""}})});
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

void emit_reproducer(const Reproducer& reproducer, std::ostream& out) {
  using namespace codegen;
  const auto* library = library_of(reproducer.backend);
  if (library == nullptr) {
    std::string known;
    for (const auto& one : standalone_libraries) known += (known.empty() ? "" : ", ") + std::string(one.backend);
    throw UsageError("backend '" + as_comment(reproducer.backend) + "' has no reproducers; there are those of " +
                     known);
  }
  check_plan_name(reproducer.plan);
  const StandaloneFamily* family = nullptr;
  std::string fields;
  std::string reasons;
  for (const auto& one : standalone_families()) {
    if (one.backend != reproducer.backend) continue;
    const bool named = !one.plans.empty() && reproducer.plan.starts_with(one.plans);
    const bool others = std::any_of(standalone_families().begin(), standalone_families().end(), [&](const auto& other) {
      return other.backend == one.backend && !other.plans.empty() && reproducer.plan.starts_with(other.plans);
    });
    if (named ? false : !one.plans.empty() || others) continue;
    try {
      if (const auto row = one.row(reproducer.layer)) {
        family = &one;
        fields = *row;
      }
    } catch (const NoRow& refused) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(refused.what());
    }
  }
  if (family == nullptr)
    throw UsageError("no reproducer: " + (reasons.empty() ? "no call of " + reproducer.backend + " for " +
                                                                std::string(kind(reproducer.layer)) + " by the plan '" +
                                                                as_comment(reproducer.plan) + "'"
                                                          : reasons));
  Places places = places_of("reproducer", library->on_device, reproducer.backend + "/" + reproducer.plan);
  places["rows"] = row_text(reproducer.layer, fields, "");
  places["declarations"] = "";
  places["adds"] = "    add_" + std::string(family->name) + "();\n";
  std::vector<std::string_view> headers;
  for (std::string_view header = family->header; !header.empty(); header = header_of(header).below)
    headers.push_back(header);
  out << "// Made by `" << as_comment(reproducer.command) << "`.\n// Layer: " << LayerSignature(reproducer.layer).text()
      << "\n// Plan:  " << as_comment(reproducer.backend + "/" + reproducer.plan) << "\n//\n//   "
      << "g++ -O1 -std=c++20 reproducer.cpp " << family->link << " -lbenchmark -o reproducer\n//   ./reproducer\n";
  std::string all;
  for (auto header = headers.rbegin(); header != headers.rend(); ++header)
    all += filled(header_of(*header).text, places) + "\n";
  out << without_own_includes(all + filled(family->text, places) + "\n" + filled(text::main_cpp, places));
}

}  // namespace benanza
