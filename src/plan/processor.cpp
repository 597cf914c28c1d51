// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"

#include <string_view>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace benanza {

namespace {

#if defined(__x86_64__)
/// CPUID leaf 7, subleaf 0 and 1; bits from the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
/// CPUID.
struct Leaf7 {
  unsigned ebx = 0, ecx = 0, edx = 0, eax1 = 0;
  Leaf7() {
    unsigned eax = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && eax >= 1) __get_cpuid_count(7, 1, &eax1, &b, &c, &d);
  }
};

/// Whether the system saves the tile registers (XCR0 bits 17 and 18).
bool saves_tiles() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3U) == 3U;
}
#endif

}  // namespace

std::string hypervisor() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx >> 31) == 0) return "none";
  __cpuid(0x40000000, eax, ebx, ecx, edx);  // vendor of the hypervisor, by convention
  std::string vendor;
  for (unsigned word : {ebx, ecx, edx})
    for (int i = 0; i < 4; ++i)
      if (const char c = static_cast<char>(word >> 8 * i & 0xFF); c > ' ' && c < 127) vendor += c;
  for (const std::string_view name : {"KVM", "VMware", "Xen", "Microsoft"})
    if (vendor.starts_with(name)) return std::string(name);  // some names are repeated to fill twelve letters
  return vendor.empty() ? "a hypervisor" : vendor;
#else
  return {};
#endif
}

std::string processor_isa() {
#if defined(__x86_64__)
  const Leaf7 leaf;
  const bool core = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (core) {
    constexpr unsigned amx_tile = 1U << 24, amx_bf16 = 1U << 22, amx_int8 = 1U << 25, fp16 = 1U << 23, bf16 = 1U << 5,
                       vnni = 1U << 11;
    if ((leaf.edx & amx_tile) != 0 && (leaf.edx & (amx_bf16 | amx_int8)) != 0 && saves_tiles())
      return "avx512_core_amx";
    if ((leaf.edx & fp16) != 0) return "avx512_core_fp16";
    if ((leaf.eax1 & bf16) != 0) return "avx512_core_bf16";
    if ((leaf.ecx & vnni) != 0) return "avx512_core_vnni";
    return "avx512_core";
  }
  constexpr unsigned avx_vnni = 1U << 4;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return (leaf.eax1 & avx_vnni) != 0 ? "avx2_vnni" : "avx2";
  if (__builtin_cpu_supports("avx")) return "avx";
  return __builtin_cpu_supports("sse4.1") ? "sse41" : "sse2";
#elif defined(__ARM_FEATURE_SVE)
  return "sve";
#elif defined(__aarch64__)
  return "asimd";
#else
  return "generic";
#endif
}

}  // namespace benanza
