// SPDX-License-Identifier: Apache-2.0
// Multiply-adds on AMX's tiles (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18).
// Empty for other processors.
#include "peak_kernels.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>

#include <sys/syscall.h>
#include <unistd.h>

namespace benanza::ceilings {
namespace {

/// The operand of `ldtilecfg`: what each of the eight tiles holds.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14]{};
  std::uint16_t row_bytes[16]{64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16]{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

/// Linux gives a process the tile state only on request.
bool may_use_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool permitted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return permitted;
}

// Four independent sums; 16 rows times 16 columns, `depth` products each.
#define BENANZA_TILES(function, features, instruction, depth)               \
  __attribute__((target(features))) double function(std::int64_t repeats) { \
    if (!may_use_tiles()) return 0;                                         \
    const TileShapes shapes;                                                \
    _tile_loadconfig(&shapes);                                              \
    _tile_zero(0);                                                          \
    _tile_zero(1);                                                          \
    _tile_zero(2);                                                          \
    _tile_zero(3);                                                          \
    _tile_zero(4);                                                          \
    _tile_zero(5);                                                          \
    _tile_zero(6);                                                          \
    _tile_zero(7);                                                          \
    for (std::int64_t r = 0; r < repeats; ++r) {                            \
      instruction(0, 4, 6);                                                 \
      instruction(1, 4, 7);                                                 \
      instruction(2, 5, 6);                                                 \
      instruction(3, 5, 7);                                                 \
    }                                                                       \
    _tile_release();                                                        \
    return 2.0 * 4 * 16 * 16 * (depth) * static_cast<double>(repeats);      \
  }
BENANZA_TILES(tile_bytes, "amx-tile,amx-int8", _tile_dpbssd, 64)
BENANZA_TILES(tile_bf16, "amx-tile,amx-bf16", _tile_dpbf16ps, 32)
#undef BENANZA_TILES

}  // namespace

std::vector<MultiplyAdd> tile_multiply_adds() {
  return {{DataType::i8, "tdpbssd:avx512_core_amx", tile_bytes},
          {DataType::bf16, "tdpbf16ps:avx512_core_amx", tile_bf16}};
}

}  // namespace benanza::ceilings
#else
namespace benanza::ceilings {
std::vector<MultiplyAdd> tile_multiply_adds() { return {}; }
}  // namespace benanza::ceilings
#endif
