// SPDX-License-Identifier: Apache-2.0
// cuBLAS's API log (CUBLAS_LOGINFO_DBG=1). Its matrices are column-major: C = op(A) op(B) there is C' = op(B)' op(A)'
// in row-major order.
#include "api_log.hpp"
#include "logged_layer.hpp"
#include "reader.hpp"
#include "seen_calls.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

namespace benanza::profile {

namespace {

/// `Sgemm` of `cublasSgemm_v2`, `GemmStridedBatchedEx` of `cublasGemmStridedBatchedEx_64`.
std::string_view product_of(std::string_view function) {
  constexpr std::string_view prefix = "cublas";
  if (!function.starts_with(prefix)) return {};
  function.remove_prefix(prefix.size());
  for (const std::string_view suffix : {"_64", "_v2"})
    if (function.ends_with(suffix)) function.remove_suffix(suffix.size());
  return function;
}

/// Real matrix products; complex ones are steps of other libraries' transforms.
bool computes_product(std::string_view function) {
  const std::string_view name = product_of(function);
  if (name.starts_with("Gemm")) return true;
  if (name.size() < 5 || std::string_view("SDH").find(name[0]) == std::string_view::npos) return false;
  return name.substr(1, 4) == "gemm" || name.substr(1, 4) == "gemv";
}

bool transposed(const ApiRecord& record, std::string_view name) {
  const std::string_view word = record.word(name);
  return !word.empty() && word != "CUBLAS_OP_N";
}

DataType type_of(const ApiRecord& record, std::string_view name, char letter) {
  for (const std::string_view key : {"type", "Type"})  // Atype or AType, depending on the version
    if (const auto type = logged_type(record.word(std::string(name) + std::string(key)))) return *type;
  return letter == 'D' ? DataType::f64 : letter == 'H' ? DataType::f16 : DataType::f32;
}

LibraryCall describe(const ApiRecord& record, const Source& source) {
  LibraryCall call{.library = "cublas", .function = record.function, .place = {source.index(), record.position}};
  const std::string_view name = product_of(record.function);
  std::string_view algorithm = record.word("algo");
  constexpr std::string_view prefix = "CUBLAS_";
  if (algorithm.starts_with(prefix)) algorithm.remove_prefix(prefix.size());
  for (const char c : algorithm.empty() ? std::string_view("gemm_default") : algorithm)
    call.algorithm += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  call.math = record.find("computeType") ? record.word("computeType") : std::string_view(record.math);
  const auto m = record.number("m"), n = record.number("n"), k = record.number("k");
  if (!m || !n) return call;
  const bool vector = name.size() >= 5 && name.substr(1, 4) == "gemv";
  LoggedGemm gemm{.type = type_of(record, "A", name[0]), .m = *m, .n = *n, .trans_a = transposed(record, "transa")};
  gemm.y_type = record.find("Ctype") || record.find("CType") ? type_of(record, "C", name[0]) : gemm.type;
  if (vector) {  // y = op(A) x: a product with one column
    gemm.trans_a = transposed(record, "trans") || transposed(record, "transa");
    gemm.k = gemm.trans_a ? *m : *n;
    gemm.m = gemm.trans_a ? *n : *m;
    gemm.n = 1;
  } else {
    if (!k) return call;
    gemm.k = *k;
    gemm.trans_b = transposed(record, "transb");
  }
  if (name.find("Batched") != std::string_view::npos) {
    for (const std::string_view count : {"batchCount", "batchSize"})
      if (const auto batch = record.number(count)) gemm.batch = *batch;
    gemm.a_batched = record.number("strideA").value_or(1) != 0;
    gemm.b_batched = record.number("strideB").value_or(1) != 0;
  }
  call.signature = gemm_signature(gemm);
  return call;
}

/// Where its matrices are and how large they are; empty if the log does not say so.
std::string operands_of(const ApiRecord& record) {
  std::string text;
  for (const std::string_view name : {"A", "B", "C", "m", "n", "k"}) {
    const auto value = record.find(name);
    if (!value) return {};
    text += std::string(*value) + ";";
  }
  return text;
}

/// Whether a record is a call inside the call that is logged after it: cublasSgemm is a batch of one, and both are
/// logged.
bool is_inside(const ApiRecord& inner, const ApiRecord& outer) {
  const bool of_one = inner.number("batchCount").value_or(inner.number("batchSize").value_or(1)) == 1;
  const std::string operands = operands_of(inner);
  return of_one && inner.function != outer.function && inner.thread == outer.thread && !operands.empty() &&
         operands == operands_of(outer);
}

EngineProfile read_cublas(Source& source, const ProfileOptions&) {
  std::vector<SeenCall> seen;
  std::map<std::string, ApiRecord> before;  // last record of each thread
  std::int64_t uncertain = 0;
  std::uint64_t first_uncertain = 0;
  const ApiLog log = read_api_log(source, computes_product, [&](ApiRecord&& record) {
    LibraryCall call = describe(record, source);
    if (record.uncertain) {
      if (uncertain++ == 0) first_uncertain = record.position;
      call.signature.clear();
      call.algorithm.clear();
    }
    const auto last = before.find(record.thread);
    if (last != before.end() && is_inside(last->second, record)) {
      const auto inner =
          std::find_if(seen.rbegin(), seen.rend(), [&](const SeenCall& each) { return each.thread == record.thread; });
      seen.erase(std::next(inner).base());
    }
    seen.push_back({std::move(call), record.thread});
    before[seen.back().thread] = std::move(record);
  });
  EngineProfile made;
  made.warnings = log.warnings;
  if (uncertain > 0)
    made.warnings.push_back(source.path().string() + ": " + std::to_string(uncertain) +
                            " calls of two threads are interleaved line by line, first at byte " +
                            std::to_string(first_uncertain) + ": their sizes cannot be told apart");
  made.calls = calls_of_one_pass(source, seen, made.warnings);
  return made;
}

bool sniff_cublas(std::string_view head) { return is_api_log(head, "cuBLAS"); }

}  // namespace

const Reader cublas_log{"cuBLAS API log", sniff_cublas, read_cublas};

}  // namespace benanza::profile
