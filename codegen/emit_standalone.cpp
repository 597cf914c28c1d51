// SPDX-License-Identifier: Apache-2.0
// Standalone suites, and reproducers. A reproducer is such a suite of one layer and one plan in one file.
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

/// A part that families share: `NAME.hpp`, its source `NAME.cpp` if it has one, and the part that it includes.
struct StandalonePart {
  std::string_view name{}, header{}, source{}, below{};
};
const StandalonePart& part_of(std::string_view name) {
  static const std::array parts{
      StandalonePart{"suite", text::suite_hpp, text::suite_cpp, ""},
      StandalonePart{"processor", text::processor_hpp, text::processor_cpp, "suite"},
      StandalonePart{"onednn", text::onednn_hpp, text::onednn_cpp, "processor"},
      StandalonePart{"device", text::device_hpp, text::device_cpp, "suite"},
      StandalonePart{"cudnn", text::cudnn_hpp, "", "device"},
      StandalonePart{"cudnn_legacy", text::cudnn_legacy_hpp, text::cudnn_legacy_cpp, "cudnn"},
      StandalonePart{"cudnn_backend", text::cudnn_backend_hpp, text::cudnn_backend_cpp, "cudnn"}};
  return *std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.name == name; });
}
/// The part and those that it includes, the lowest first.
std::vector<const StandalonePart*> parts_up_to(std::string_view name) {
  std::vector<const StandalonePart*> result;
  for (; !name.empty(); name = result.front()->below) result.insert(result.begin(), &part_of(name));
  return result;
}

/// How a library is found and linked.
struct StandaloneLibrary {
  std::string_view backend{};
  bool on_device = false;
  std::string_view cmake{};  ///< code that finds it and links it to `suite`
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

/// The template with each `@name@` replaced by its text: a word, or lines where a line says nothing but `// @name@`.
std::string filled(std::string_view text, const Places& places) {
  std::string result;
  while (!text.empty()) {
    const auto from = text.find('@');
    const auto to = from == std::string_view::npos ? from : text.find('@', from + 1);
    result += text.substr(0, from);
    if (to == std::string_view::npos) break;
    const std::string& place = places.at(text.substr(from + 1, to - from - 1));
    text.remove_prefix(to + 1);
    const std::size_t line = result.rfind('\n') + 1;  // 0 if there is none before
    if (text.starts_with('\n') && result.find_first_not_of(' ', line) + 3 == result.size() && result.ends_with("// ")) {
      result.erase(line);
      text.remove_prefix(1);
    }
    result += place;
  }
  return result;
}

Places places_of(std::string_view suite, bool on_device, std::string_view plan) {
  return {{"suite", as_word(suite)},
          {"plan", std::string(plan)},
          {"caches", plan.empty() ? "      Cache::hot, Cache::cold_weights\n" : "      Cache::hot\n"},
          {"default_caches", plan.empty() ? "the first two" : "hot"},
          {"clock", on_device ? "    added->UseManualTime();\n" : "    added->UseRealTime();\n"},
          {"device_source", on_device ? "device.cpp" : "processor.cpp"},
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

/// `jit:avx2,src=aBcd8b,threads=2`.
bool is_plan_name(std::string_view text) {
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
  return good;
}

/// A layer in the table of a family.
struct FamilyRow {
  const StandaloneFamily* family = nullptr;
  std::string fields{};
};
/// The row of a library's family that has the plan. If there is none, `reasons` says why, unless no family is for such
/// layers.
std::optional<FamilyRow> row_of(const Layer& layer, std::string_view backend, std::string_view plan,
                                std::string& reasons) {
  const auto begins = [&](const StandaloneFamily& family) {
    return family.by.backend == backend && !family.by.plans.empty() && plan.starts_with(family.by.plans);
  };
  const auto families = standalone_families();
  const bool named = std::any_of(families.begin(), families.end(), begins);
  for (const auto& family : families) {
    if (family.by.backend != backend || (named ? !begins(family) : !family.by.plans.empty())) continue;
    try {
      if (auto fields = family.row(layer)) return FamilyRow{&family, *std::move(fields)};
    } catch (const NoRow& refused) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(refused.what());
    }
  }
  return std::nullopt;
}

/// Removes the include lines of the project's own headers, which precede this text in the single file.
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

  std::map<std::string_view, std::string> rows;  // by family name
  std::string refusals;
  for (const auto& [signature, unique] : source.layers.layers()) {
    if (is_free(unique.layer) || is_opaque(unique.layer)) continue;
    for (const auto& backend : source.backends) {
      bool offered = false;
      std::string reasons;
      for (const auto& family : standalone_families()) {
        if (family.by.backend != backend) continue;
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
  std::set<std::string_view> shared;
  const auto share = [&](std::string_view name) {
    for (const auto* part : parts_up_to(name)) shared.insert(part->name);
  };
  share(on_device ? "device" : "processor");
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
    share(family.by.part);
  }
  if (!refusals.empty()) {
    Places own = places;
    own["rows"] = refusals;
    files.push_back({"refusals.cpp", banner + filled(text::refusals_cpp, own)});
    declarations += "void add_refusals();\n";
    adds += "    add_refusals();\n";
    sources += "  refusals.cpp\n";
  }
  for (const auto name : shared) {
    const auto add = [&](const char* ending, std::string_view text) {
      files.push_back({std::string(name) + ending, banner + filled(text, places)});
    };
    const StandalonePart& part = part_of(name);
    add(".hpp", part.header);
    if (part.source.empty()) continue;
    add(".cpp", part.source);
    sources += "  " + std::string(name) + ".cpp\n";
  }
  Places own = places;
  own["declarations"] = declarations;
  own["adds"] = adds;
  files.push_back({"main.cpp", banner + filled(text::main_cpp, own)});
  const std::string precompiled = on_device ? "device.hpp" : shared.contains("onednn") ? "onednn.hpp" : "processor.hpp";
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

bool can_reproduce(const Layer& layer, std::string_view backend, std::string_view plan) {
  using namespace codegen;
  std::string reasons;
  return library_of(backend) != nullptr && is_plan_name(plan) && row_of(layer, backend, plan, reasons);
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
  if (!is_plan_name(reproducer.plan))
    throw UsageError("plan '" + as_comment(reproducer.plan) + "', expected e.g. jit:avx2,src=aBcd8b,threads=1");
  std::string reasons;
  const auto found = row_of(reproducer.layer, reproducer.backend, reproducer.plan, reasons);
  if (!found)
    throw UsageError("no reproducer: " + (reasons.empty() ? "no call of " + reproducer.backend + " for " +
                                                                std::string(kind(reproducer.layer)) + " by the plan '" +
                                                                as_comment(reproducer.plan) + "'"
                                                          : reasons));
  const StandaloneFamily& family = *found->family;
  Places places = places_of("reproducer", library->on_device, reproducer.backend + "/" + reproducer.plan);
  places["rows"] = row_text(reproducer.layer, found->fields, "");
  places["declarations"] = "";
  places["adds"] = "    add_" + std::string(family.name) + "();\n";
  out << "// Made by `" << as_comment(reproducer.command) << "`.\n// Layer: " << LayerSignature(reproducer.layer).text()
      << "\n// Plan:  " << as_comment(reproducer.backend + "/" + reproducer.plan) << "\n//\n//   "
      << "g++ -O1 -std=c++20 " << as_comment(reproducer.file) << ' '
      << (reproducer.link.empty() ? std::string(family.by.link) : as_comment(reproducer.link))
      << " -lbenchmark -o reproducer\n//   ./reproducer\n";
  std::string headers, sources;
  for (const auto* part : parts_up_to(family.by.part)) {
    headers += filled(part->header, places) + "\n";
    if (!part->source.empty()) sources += filled(part->source, places) + "\n";
  }
  out << without_own_includes(headers + sources + filled(family.text, places) + "\n" + filled(text::main_cpp, places));
}

}  // namespace benanza
