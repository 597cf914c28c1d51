// SPDX-License-Identifier: Apache-2.0
// Library: oneDNN's CPU engine and its stream, shared by the backend and all plans.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <string>

namespace benanza::onednn {

struct Library {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

  /// `3.2.0`.
  [[nodiscard]] static std::string version();
  /// The instruction set that its kernels may use on this machine: `avx2`, `avx512_core_amx`.
  [[nodiscard]] static std::string isa();
  /// Channels per block of the layouts that its kernels prefer on this machine: 16 with AVX-512, otherwise 8.
  [[nodiscard]] static int channel_block();
  /// Sets the thread count of everything that the calling thread creates and executes from now on.
  static void use_threads(int count);
};

/// For a status other than success, throws EnvironmentError with the call's name, its location and the library's own
/// word.
void check(dnnl_status_t status, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace benanza::onednn
