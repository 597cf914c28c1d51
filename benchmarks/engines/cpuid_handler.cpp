// SPDX-License-Identifier: Apache-2.0
// Emulates the instruction CPUID where avx2.py has replaced it by UD2, an undefined instruction of the same length: the
// answer is the processor's, but without AVX-512, AMX and VNNI.
#include <cpuid.h>
#include <ucontext.h>

#include <csignal>
#include <cstdint>
#include <initializer_list>

namespace {

constexpr std::uint32_t bits(std::initializer_list<int> places) {
  std::uint32_t mask = 0;
  for (const int place : places) mask |= std::uint32_t{1} << place;
  return mask;
}

// Leaf 7, by subleaf and register (Intel's Software Developer's Manual, volume 2A, CPUID).
constexpr std::uint32_t avx512_ebx = bits({16, 17, 21, 26, 27, 28, 30, 31});  // F, DQ, IFMA, PF, ER, CD, BW, VL
constexpr std::uint32_t avx512_ecx = bits({1, 6, 11, 12, 14});                // VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ
// 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, AMX-INT8
constexpr std::uint32_t avx512_edx = bits({2, 3, 8, 22, 23, 24, 25});
constexpr std::uint32_t later_eax = bits({4, 5});  // AVX-VNNI, AVX512-BF16

void answer(int signal, siginfo_t*, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* instruction = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  if (instruction[0] != 0x0f || instruction[1] != 0x0b) {
    std::signal(signal, SIG_DFL);
    return;  // the same instruction runs again
  }
  const auto leaf = static_cast<unsigned>(registers[REG_RAX]), subleaf = static_cast<unsigned>(registers[REG_RCX]);
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __cpuid_count(leaf, subleaf, eax, ebx, ecx, edx);
  if (leaf == 7 && subleaf == 0) {
    ebx &= ~avx512_ebx;
    ecx &= ~avx512_ecx;
    edx &= ~avx512_edx;
  } else if (leaf == 7 && subleaf == 1) {
    eax &= ~later_eax;
  }
  registers[REG_RAX] = eax;
  registers[REG_RBX] = ebx;
  registers[REG_RCX] = ecx;
  registers[REG_RDX] = edx;
  registers[REG_RIP] += 2;
}

[[gnu::constructor]] void install() {
  struct sigaction action {};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

}  // namespace
