// SPDX-License-Identifier: Apache-2.0
#include "isa.hpp"

#include <benanza/error.hpp>

#include <string>

namespace benanza::native {

// One line for each kernel file, which adds its functions to the table.
#define BENANZA_DECLARE_KERNELS(isa)  \
  namespace isa {                     \
  void add_unary(Kernels&);           \
  void add_unary_gradient(Kernels&);  \
  void add_binary(Kernels&);          \
  void add_double(Kernels&);          \
  void add_integer(Kernels&);         \
  void add_integer_product(Kernels&); \
  void add_convert(Kernels&);         \
  void add_move(Kernels&);            \
  void add_transpose(Kernels&);       \
  void add_softmax(Kernels&);         \
  void add_normalize(Kernels&);       \
  void add_gradient(Kernels&);        \
  void add_reduce(Kernels&);          \
  void add_attention(Kernels&);       \
  void add_recurrent(Kernels&);       \
  void add_tile(Kernels&);            \
  void add_winograd(Kernels&);        \
  inline Kernels table() {            \
    Kernels k;                        \
    add_unary(k);                     \
    add_unary_gradient(k);            \
    add_binary(k);                    \
    add_double(k);                    \
    add_integer(k);                   \
    add_integer_product(k);           \
    add_convert(k);                   \
    add_move(k);                      \
    add_transpose(k);                 \
    add_softmax(k);                   \
    add_normalize(k);                 \
    add_gradient(k);                  \
    add_reduce(k);                    \
    add_attention(k);                 \
    add_recurrent(k);                 \
    add_tile(k);                      \
    add_winograd(k);                  \
    return k;                         \
  }                                   \
  }

BENANZA_DECLARE_KERNELS(baseline)
#if defined(__x86_64__)
BENANZA_DECLARE_KERNELS(avx2)
BENANZA_DECLARE_KERNELS(avx512)
#endif

bool runs_here(Isa isa) {
  switch (isa) {
    case Isa::baseline: return true;
#if defined(__x86_64__)
    // Every processor with AVX2 also has F16C, which clang 14 cannot query.
    case Isa::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && runs_here(Isa::avx2);
#endif
    default: return false;
  }
}

Isa widest_isa() {
  if (runs_here(Isa::avx512)) return Isa::avx512;
  return runs_here(Isa::avx2) ? Isa::avx2 : Isa::baseline;
}

const Kernels& kernels(Isa isa) {
  if (!runs_here(isa))
    throw UsageError("this machine lacks the instruction set " + std::string(isa_names[static_cast<std::size_t>(isa)]));
#if defined(__x86_64__)
  if (isa == Isa::avx512) {
    static const Kernels wide = [] {
      Kernels table = avx512::table();
      if (!__builtin_cpu_supports("avx512vnni")) table.integer_bytes = {};
      return table;
    }();
    return wide;
  }
  if (isa == Isa::avx2) {
    static const Kernels usual = avx2::table();
    return usual;
  }
#endif
  static const Kernels narrow = baseline::table();
  return narrow;
}

}  // namespace benanza::native
