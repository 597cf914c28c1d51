// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's log (CUBLASLT_LOG_LEVEL=2 and up): one line per call, `[date][cublasLt][pid][Trace][cublasLtMatmul] A=..
// Adesc=[type=.. rows=.. cols=.. ld=..] ... computeDesc=[..] algo=[..]`. Fields that are not listed have their default
// values.
#include "logged_layer.hpp"
#include "reader.hpp"
#include "seen_calls.hpp"

#include <charconv>
#include <utility>

namespace benanza::profile {

namespace {

constexpr std::string_view mark = "[cublasLt]";

/// The text between the brackets of `Adesc=[...]`; empty if there is none.
std::optional<std::string_view> group(std::string_view line, std::string_view name) {
  const std::string key = std::string(name) + "=[";
  const auto at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  const auto end = line.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(0, end);
}

/// Whether the line ends inside brackets.
bool is_open(std::string_view line) { return line.rfind('[') != line.npos && line.rfind('[') >= line.rfind(']') + 1; }

/// The word after `key=`; empty if there is none.
std::string_view word(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; at += key.size()) {
    const bool starts = at == 0 || text[at - 1] == ' ';
    if (!starts || at + key.size() >= text.size() || text[at + key.size()] != '=') continue;
    const std::string_view rest = text.substr(at + key.size() + 1);
    return rest.substr(0, rest.find(' '));
  }
  return {};
}

std::optional<std::int64_t> number(std::string_view text, std::string_view key) {
  const std::string_view digits = word(text, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

bool row_major(std::string_view layout) { return word(layout, "order") == "ORDER_ROW"; }

/// `algo=67,tile=64x32,stages=64xAUTO`: Benanza's form `name,key=value`, in the order of the log.
std::string algorithm_of(std::string_view algo) {
  std::string text;
  while (!algo.empty()) {
    const auto space = algo.find(' ');
    std::string_view part = algo.substr(0, space);
    algo = space == std::string_view::npos ? std::string_view{} : algo.substr(space + 1);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    for (const std::string_view prefix : {"MATMUL_TILE_", "MATMUL_STAGES_", "CLUSTER_SHAPE_"})
      if (value.starts_with(prefix)) value.remove_prefix(prefix.size());
    if (key == "algoId") key = "algo";
    text += (text.empty() ? "" : ",") + std::string(key) + "=" + std::string(value);
  }
  return text;
}

/// Empty for an epilogue that no layer of a model has.
std::optional<Epilogue> epilogue_of(std::string_view name) {
  if (name.empty() || name == "EPILOGUE_DEFAULT") return Epilogue{};
  if (name == "EPILOGUE_BIAS") return Epilogue{bias};
  if (name == "EPILOGUE_RELU") return Epilogue{ElementwiseFn::relu};
  if (name == "EPILOGUE_RELU_BIAS") return Epilogue{bias, ElementwiseFn::relu};
  if (name == "EPILOGUE_GELU") return Epilogue{ElementwiseFn::gelu_tanh};
  if (name == "EPILOGUE_GELU_BIAS") return Epilogue{bias, ElementwiseFn::gelu_tanh};
  return std::nullopt;
}

std::string signature_of(std::string_view line, std::string_view compute) {
  const auto a = group(line, "Adesc"), b = group(line, "Bdesc"), d = group(line, "Ddesc");
  if (!a || !b || !d || row_major(*a) != row_major(*b) || row_major(*a) != row_major(*d)) return {};
  const auto type = logged_type(word(*a, "type")), y_type = logged_type(word(*d, "type"));
  const auto rows = number(*a, "rows"), columns = number(*a, "cols"), m = number(*d, "rows"), n = number(*d, "cols");
  const auto post = epilogue_of(word(compute, "epilogue"));
  if (!type || !y_type || !rows || !columns || !m || !n || !post) return {};
  LoggedGemm gemm{.type = *type,
                  .y_type = *y_type,
                  .m = *m,
                  .n = *n,
                  .trans_a = word(compute, "transa") == "OP_T",
                  .trans_b = word(compute, "transb") == "OP_T",
                  .batch = number(*d, "batchCount").value_or(1),
                  .row_major = row_major(*a),
                  .post = *post};
  gemm.k = gemm.trans_a ? *rows : *columns;
  gemm.a_batched = number(*a, "batchCount").value_or(1) > 1 && number(*a, "stridedBatchOffset").value_or(1) != 0;
  gemm.b_batched = number(*b, "batchCount").value_or(1) > 1 && number(*b, "stridedBatchOffset").value_or(1) != 0;
  return gemm_signature(gemm);
}

EngineProfile read_cublaslt(Source& source, const ProfileOptions&) {
  std::vector<SeenCall> traced, called;  // a log of level 5 has both for a call: Trace is the launch
  Lines lines(source);
  std::string_view line;
  while (lines.next(line)) {
    const auto at = line.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + mark.size());
    const auto name_end = rest.find("] ");
    if (name_end == std::string_view::npos) continue;
    const auto name_begin = rest.rfind('[', name_end);
    if (name_begin == std::string_view::npos) continue;
    const std::string_view function = rest.substr(name_begin + 1, name_end - name_begin - 1);
    const bool trace = rest.find("[Trace]") < name_begin, api = rest.find("[Api]") < name_begin;
    if (!function.ends_with("Matmul") || (!trace && !api) || !rest.substr(name_end + 2).starts_with("A=")) continue;
    const auto compute = group(rest, "computeDesc"), algo = group(rest, "algo");
    if (!compute || !group(rest, "Adesc") || !group(rest, "Bdesc") || !group(rest, "Ddesc") || is_open(rest)) {
      source.leave_out(lines.position(), "a call is cut off: expected Adesc, Bdesc, Ddesc and computeDesc");
      continue;
    }
    const std::string_view process = rest.starts_with('[') ? rest.substr(1, rest.find(']') - 1) : std::string_view{};
    SeenCall seen{{.library = "cublaslt",
                   .function = std::string(function),
                   .signature = signature_of(rest, *compute),
                   .algorithm = algorithm_of(algo.value_or(std::string_view{})),
                   .math = std::string(word(*compute, "computeType")),
                   .place = {source.index(), lines.position()}},
                  std::string(process)};
    (trace ? traced : called).push_back(std::move(seen));
  }
  EngineProfile made;
  made.calls = calls_of_one_pass(source, traced.empty() ? called : traced, made.warnings);
  return made;
}

bool sniff_cublaslt(std::string_view head) { return head.find(mark) != std::string_view::npos; }

}  // namespace

const Reader cublaslt_log{"cuBLASLt log", sniff_cublaslt, read_cublaslt};

}  // namespace benanza::profile
