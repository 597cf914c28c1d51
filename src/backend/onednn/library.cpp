// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include <benanza/error.hpp>

#include <oneapi/dnnl/dnnl_debug.h>

// oneDNN counts its threads with GNU OpenMP's routines. The function is declared here because the header of another
// compiler's OpenMP would do no harm, but its library would.
extern "C" void omp_set_num_threads(int count);

namespace benanza::onednn {

std::string Library::version() {
  const dnnl_version_t* v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

std::string Library::isa() {
  using enum dnnl::cpu_isa;
  switch (dnnl::get_effective_cpu_isa()) {
    case isa_default: break;
    case sse41: return "sse41";
    case avx: return "avx";
    case avx2: return "avx2";
    case avx2_vnni: return "avx2_vnni";
    case avx2_vnni_2: return "avx2_vnni_2";
    case avx512_core: return "avx512_core";
    case avx512_core_vnni: return "avx512_core_vnni";
    case avx512_core_bf16: return "avx512_core_bf16";
    case avx512_core_fp16: return "avx512_core_fp16";
    case avx512_core_amx: return "avx512_core_amx";
    case avx512_core_amx_fp16: return "avx512_core_amx_fp16";
  }
  return {};
}

int Library::channel_block() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::isa_default:
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx2_vnni_2: return 8;
    default: return 16;
  }
}

void Library::use_threads(int count) { omp_set_num_threads(count); }

void check(dnnl_status_t status, const char* call, const char* file, int line) {
  if (status == dnnl_success) return;
  throw EnvironmentError(std::string(file) + ":" + std::to_string(line) + ": oneDNN's " + call + " returned " +
                         dnnl_status2str(status));
}

}  // namespace benanza::onednn
