// SPDX-License-Identifier: Apache-2.0
// Reader: a format of profiles. Each is a file of its own that defines one of the names below, which also stand, in the
// order in which they are asked, in the one list of read_profile.cpp.
#pragma once

#include "source.hpp"
#include <benanza/profile/engine_profile.hpp>

#include <string_view>

namespace benanza::profile {

struct Reader {
  std::string_view format;  ///< as messages and EngineProfile::format name it
  /// Whether a text that starts like this is of this format. It must not accept what another reader reads.
  bool (*sniff)(std::string_view head);
  /// The whole file. `files` and `format` are filled in by the caller; every record and call has its place, with
  /// `file` = source.index(). A file that only describes layers (no time) gives records without times: they are joined
  /// by name to those of another file of the run that has times.
  EngineProfile (*read)(Source& source, const ProfileOptions& options);
};

extern const Reader onnxruntime, kineto, trtexec_profile, trtexec_times, trtexec_layers, trtexec_log, onednn_verbose,
    openvino_counters, google_benchmark, layer_csv, nsys, cudnn_log, cudnn_frontend_log, cublas_log, cublaslt_log;

}  // namespace benanza::profile
