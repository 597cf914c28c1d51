// SPDX-License-Identifier: Apache-2.0
// EngineProfile: what an engine really did: its latency, and its layers or kernels with their times, in one form for
// all formats of profilers (one reader per format in src/profile). `compare` (gap.hpp) compares it with the bounds of a
// model.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

/// What a record's time was spent on.
enum class Activity : std::uint8_t {
  layer,       ///< a layer of the engine's own graph
  kernel,      ///< a kernel on a device
  copy,        ///< bytes copied or set
  conversion,  ///< a layout or type conversion that the model did not ask for
  wait,        ///< synchronisation
  call         ///< a call of the host: a launch, an allocation
};
[[nodiscard]] constexpr std::array<std::string_view, 6> enum_names(Activity) {
  return {"layer", "kernel", "copy", "conversion", "wait", "call"};
}

/// The position of a record, for messages: a byte of a text file, a row of a database's table.
struct ProfilePlace {
  std::size_t file = 0;  ///< index into EngineProfile::files
  std::uint64_t position = 0;
};

struct ProfiledTensor {
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};
  bool operator==(const ProfiledTensor&) const = default;
};

/// One layer, kernel or other activity of the engine, the same one in every pass.
struct ProfileRecord {
  std::string name{};  ///< in the engine's words
  std::string op{};    ///< operator, layer type or kernel class, in the engine's words
  Activity activity = Activity::layer;
  /// ONNX nodes that this is according to the engine, each by its name or by the name of a value that it computes (ONNX
  /// Runtime's blocked layouts); names of weights may be among them (TensorRT). Empty if the engine does not say.
  std::vector<std::string> nodes{};
  std::string algorithm{};  ///< implementation, kernel or plan that ran, if known
  std::string provider{};   ///< the engine's backend: CPUExecutionProvider, cudnn ...
  std::string library{};    ///< whose call launched the kernel: cudnn, cublas; empty: none, or not known
  /// A runtime call that the thread made between two library calls, and that does not launch, allocate or wait.
  bool between_libraries = false;
  std::vector<ProfiledTensor> inputs{}, outputs{};  ///< if recorded
  std::int64_t lane = 0;  ///< thread or stream: records of one lane do not overlap unless nested
  /// Index of the record that encloses this one (its times include this one's) or launched it.
  std::optional<std::size_t> parent{};
  std::optional<Seconds> start{};  ///< from the start of its pass, median over passes
  std::vector<Seconds> times{};    ///< one per counted pass, 0 if it lacked this; only one if only an average is known
  std::vector<float> starts_s{};   ///< one for each of `times`, seconds; NaN if a pass lacked this; empty: not known
  ProfilePlace place{};
};

/// A call of a vendor library in an API log: what was chosen, not how long it took.
struct LibraryCall {
  std::string library{};    ///< cudnn, cublas, cublaslt
  std::string function{};   ///< cudnnConvolutionForward ...
  std::string signature{};  ///< the layer that it computes; empty if the log does not determine it
  std::string algorithm{};  ///< in the terms of Benanza's backend for it: `implicit_precomp_gemm`, a plan tag ...
  std::string math{};       ///< math mode or compute type, in the library's words
  std::int64_t count = 0;   ///< in one pass
  ProfilePlace place{};
};

/// What a thread did between two consecutive library calls of a pass, outside both: all calls of one function, or
/// launches of one kernel, between calls of the same two functions.
struct BetweenCalls {
  std::string name{};                  ///< cudaStreamWaitEvent, or the kernel's
  Activity activity = Activity::call;  ///< call or kernel
  std::string after{}, before{};       ///< the libraries' functions: cudnnConvolutionForward ...
  double count = 0;                    ///< in a pass, on average
  Seconds time{};                      ///< in a pass, on average: of the host for a call, of the device for a kernel
  /// The callers, innermost first: the most frequent call chain. Empty if the file has none.
  std::vector<std::string> chain{};
};

struct EngineProfile {
  std::string engine{};   ///< onnxruntime, tensorrt, pytorch, openvino ...; empty: not known
  std::string version{};  ///< engine version, if the file gives it
  std::string format{};   ///< what it was read from: `ONNX Runtime profile` ...
  std::vector<std::string> files{};
  std::string device{};  ///< as the file names it
  std::optional<int> threads{};
  std::vector<Seconds> latencies{};      ///< one per counted pass, from end to end; empty: only records are known
  bool latencies_apart = false;          ///< the latencies are from another run than the times of the records
  std::int64_t warm_ups = 0;             ///< passes dropped
  std::vector<ProfileRecord> records{};  ///< in the engine's order; of counted passes
  std::vector<LibraryCall> calls{};      ///< in the order of the log
  std::vector<BetweenCalls> between{};   ///< by time, longest first; empty if library calls were not traced
  /// Records with times that could not be read, so that the passes that count lack them. A sum of records is too low.
  std::size_t unreadable = 0;
  std::string total_only{};  ///< empty, or why its records support no claim about layers (asynchronous provider ...)
  std::vector<std::string> warnings{};  ///< what is doubtful, with file and place
};

struct ProfileOptions {
  std::optional<std::int64_t> warm_ups{};  ///< passes to drop; empty: determined from the times themselves
  /// Passes in a file that does not mark them (Nsight Systems, oneDNN, CSV, traces without steps), of one or several
  /// repetitions each; empty: each repetition is one, with a warning. Files that mark passes ignore this.
  std::optional<std::int64_t> passes{};
};

/// Reads the files of one run of an engine, for example a trace together with an API log of it. Each format is
/// recognised by its content, and gzip is unpacked. Throws InputError with file and byte for a file that is cut off,
/// foreign or inconsistent; what can be marked and left out instead is in `warnings`.
[[nodiscard]] EngineProfile read_profile(std::span<const std::filesystem::path> files,
                                         const ProfileOptions& options = {});

/// A profile of latencies alone: `--latency 12.3ms`, or samples that an engine took itself.
[[nodiscard]] inline EngineProfile latency_profile(std::vector<Seconds> latencies) {
  EngineProfile made;
  made.format = "latency";
  made.latencies = std::move(latencies);
  return made;
}

}  // namespace benanza
