// SPDX-License-Identifier: Apache-2.0
// The reference against ONNX's own node-test vectors: expected values from an outside source, at the tolerance of
// ONNX's runner, except for f16, bf16 and DFT (`first_difference`).
#include "backend/node_run.hpp"
#include "support/catch.hpp"
#include <benanza/model/layer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace benanza;
using test::Numbers;

namespace {

/// A folder for one run, removed afterwards.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "benanza-node-vectors-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw EnvironmentError("no scratch folder can be made");
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_{};
};

/// Compares as onnx.backend.test.runner does:
/// got - expected
/// <= 1e-7 + 1e-3
/// expected
/// , with equal shapes; NaN must be NaN in both. A bf16 has 8 significant bits, an f16 has 11: the vectors round
/// intermediate sums to them, so two units in the last place are allowed. In addition `noise` is accepted, as a
/// fraction of the largest value.
std::string first_difference(const Numbers& expected, const Numbers& got, double noise) {
  std::ostringstream text;
  text.precision(9);
  if (expected.dims != got.dims) return "another shape";
  if (expected.type != got.type)
    return "another type: " + std::string(name(got.type)) + ", expected " + std::string(name(expected.type));
  double largest = 0;
  for (const double value : expected.values)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double want = expected.values[i], have = got.values[i];
    if (want == have || (std::isnan(want) && std::isnan(have))) continue;
    const int digits = got.type == DataType::bf16 ? 7 : got.type == DataType::f16 ? 10 : 0;
    const double two_units = digits == 0 || want == 0 ? 0 : 2 * std::ldexp(1.0, std::ilogb(want) - digits);
    const double accepted = std::max(1e-3 * std::fabs(want), two_units);
    if (std::fabs(have - want) <= 1e-7 + accepted + noise * largest) continue;
    text << "element " << i << " is " << have << ", expected " << want;
    return text.str();
  }
  return {};
}

std::string compare(const test::NodeVector& vector) {
  const auto got = test::run_graph(vector.graph, vector.inputs);
  if (got.size() != vector.outputs.size()) return "another number of outputs";
  std::size_t computed = 0;
  // Sums that cancel: where the result is 0, the vectors of a transform contain the rounding of f32.
  const bool cancels = std::find(vector.op_types.begin(), vector.op_types.end(), "DFT") != vector.op_types.end();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!got[i]) continue;
    ++computed;
    if (const auto text = first_difference(vector.outputs[i], *got[i], cancels ? 1e-7 : 0); !text.empty())
      return "output " + std::to_string(i) + ": " + text;
  }
  if (computed == 0) throw test::Skip{"folded away at import"};
  if (computed < got.size()) throw test::Skip{"an output that is not computed"};
  return {};
}

/// Rules that go by the name of a vector, because nothing else identifies these.
std::string skipped_by_name(const std::string& name) {
  for (const char* prefix :
       {"test_adagrad", "test_adam", "test_momentum", "test_nesterov", "test_gradient", "test_bernoulli"})
    if (name.starts_with(prefix)) return "training or random numbers";
  return {};
}

/// ONNX's own operator types from which operators of the variant are made, as a node has them: without the domain.
std::set<std::string, std::less<>> listed_types() {
  std::set<std::string, std::less<>> types;
  const auto add = [&]<class... Ops>(const std::variant<Ops...>*) {
    (([&] {
       if constexpr (requires { Ops::onnx_types; })
         for (std::string_view type : Ops::onnx_types) {
           constexpr std::string_view domain = "ai.onnx.ml.";
           if (type.starts_with(domain)) type.remove_prefix(domain.size());
           if (type.find('.') == std::string_view::npos) types.emplace(type);
         }
     }()),
     ...);
  };
  add(static_cast<const Layer*>(nullptr));
  return types;
}

/// The outcome of the vectors of one operator.
struct Tally {
  std::size_t passed = 0;
  std::map<std::string, std::vector<std::string>> left_out{};  ///< names of vectors by reason
};

/// The table of docs/operators.md: first the operators whose vectors all pass, then the others.
std::string document_of(const std::map<std::string, Tally>& tallies) {
  constexpr std::size_t width = 130;
  std::string whole, rest;
  std::size_t line = 0;  // where the last line of `whole` begins
  for (const auto& [type, tally] : tallies) {
    if (tally.left_out.empty()) {
      if (!whole.empty()) whole += ',';
      if (whole.size() > line + width) {
        whole += '\n';
        line = whole.size();
      } else if (!whole.empty()) {
        whole += ' ';
      }
      whole += type + ' ' + std::to_string(tally.passed);
      continue;
    }
    std::string why;
    for (const auto& [reason, names] : tally.left_out) {
      why += (why.empty() ? "" : "; ") + reason + ':';
      for (const auto& name : names) why += (&name == &names.front() ? " " : ", ") + name.substr(sizeof "test_" - 1);
    }
    rest += "| " + type + " | " + std::to_string(tally.passed) + " | " + why + " |\n";
  }
  return "<!-- node tests -->\n\n" + whole + ".\n\n| operator | pass | do not |\n| --- | ---: | --- |\n" + rest +
         "\n<!-- end of node tests -->\n";
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the reference computes what ONNX's node-test vectors expect") {
  const std::filesystem::path folder = std::filesystem::path(BENANZA_ONNX_CASES) / "node";
  if (!std::filesystem::is_directory(folder)) {
    WARN("skipped: no folder " << folder.string() << " with ONNX's node-test vectors");
    return;
  }
  std::vector<std::filesystem::path> vectors;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) vectors.push_back(entry.path());
  std::sort(vectors.begin(), vectors.end());

  const Scratch scratch;
  const auto listed = listed_types();
  std::map<std::string, Tally> tallies;  // by operator
  for (const auto& path : vectors) {
    const std::string name = path.filename().string();
    const auto types = test::read_op_types(path);
    Tally& tally = tallies[types.size() == 1 ? types[0] : "several nodes"];
    if (const auto rule = skipped_by_name(name); !rule.empty()) {
      tally.left_out[rule].push_back(name);
      continue;
    }
    try {
      const auto text = compare(test::read_node_vector(path, scratch.path()));
      if (!text.empty()) FAIL_CHECK(name << ": " << text);
      else ++tally.passed;
    } catch (const test::Skip& skip) {
      tally.left_out[skip.rule].push_back(name);
    } catch (const std::exception& error) {
      FAIL_CHECK(name << ": " << error.what());
    }
  }

  std::size_t passed = 0, of_listed = 0, passed_of_listed = 0;
  for (const auto& [type, tally] : tallies) {
    passed += tally.passed;
    if (!listed.contains(type)) continue;
    of_listed += tally.passed;
    for (const auto& [reason, names] : tally.left_out) of_listed += names.size();
    passed_of_listed += tally.passed;
    CAPTURE(type);
    CHECK(tally.passed > 0);
  }
  std::cout << "ONNX node vectors: " << passed << " of " << vectors.size() << " pass, " << passed_of_listed << " of "
            << of_listed << " of operators in the table" << std::endl;
  CHECK(static_cast<double>(passed_of_listed) > 0.95 * static_cast<double>(of_listed));
  CHECK(passed >= 1680);  // ONNX 1.23.2 has 1,884
  const auto document = document_of(tallies);
  INFO("docs/operators.md should say:\n" << document);
  CHECK(read(BENANZA_OPERATORS_DOCUMENT).find(document) != std::string::npos);
}
