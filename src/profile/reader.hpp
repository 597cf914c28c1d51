// SPDX-License-Identifier: Apache-2.0
// Reader: a profile format. Each is in a file of its own that defines one of the names below. The names are also in the
// one list of read_profile.cpp, in the order in which formats are asked.
#pragma once

#include "source.hpp"
#include <benanza/profile/engine_profile.hpp>

#include <string_view>

namespace benanza::profile {

struct Reader {
  std::string_view format;  ///< name of the format in messages and in EngineProfile::format
  /// Whether a text that starts like this is of this format. Must not accept what another reader reads.
  bool (*sniff)(std::string_view head);
  /// Reads the whole file. The caller fills in `files` and `format`; every record and call has its place, with `file` =
  /// source.index(). A file that only describes layers (without times) gives records without times, which are joined by
  /// name with those of another file of the run that has times.
  EngineProfile (*read)(Source& source, const ProfileOptions& options);
};

extern const Reader onnxruntime, kineto, trtexec_profile, trtexec_times, trtexec_layers, trtexec_log, onednn_verbose,
    openvino_counters, openvino_text, openvino_json, google_benchmark, layer_csv, nsys, cudnn_log, cudnn_frontend_log,
    cublas_log, cublaslt_log;

}  // namespace benanza::profile
