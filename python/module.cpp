// SPDX-License-Identifier: Apache-2.0
// The Python module: each function is one call of the library. Reports become dictionaries by the library's own JSON.
#include <benanza/bounds/analyze.hpp>
#include <benanza/error.hpp>
#include <benanza/execution/executor.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/onnx.hpp>
#include <benanza/report/gap_report.hpp>
#include <benanza/report/report.hpp>
#include <benanza/session/backends.hpp>
#include <benanza/session/session.hpp>
#include <benanza/version.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace benanza;
using Files = std::vector<std::filesystem::path>;
using Sizes = std::map<std::string, std::int64_t>;
using InputArrayOf = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

template <class Report>
nb::object dictionary(const Report& report) {
  std::ostringstream out;
  write_json(out, report);
  return nb::module_::import_("json").attr("loads")(out.str());
}

ModelLayers layers_of(const std::filesystem::path& model, const std::optional<std::int64_t>& batch, const Sizes& dims) {
  return make_model_layers(import_onnx(model, {.batch = batch, .dims = dims}));
}

/// The program that is installed beside this module: it measures, so that a crash does not end Python.
std::string program() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&program), &here) == 0)
    throw EnvironmentError("cannot find this module's file");
  return std::filesystem::absolute(here.dli_fname).parent_path() / "bin" / "benanza";
}

void warn(const std::string& text) {
  const nb::gil_scoped_acquire python;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

/// How the times of a bound are obtained.
struct Times {
  Files results{};  ///< if there are any, nothing is measured
  std::vector<std::string> backends{};
  int threads = 0;
  std::optional<double> budget{};
  std::optional<std::filesystem::path> database{};
  bool plans = false;  ///< every candidate of each layer
};

BoundReport stored_bound(const ModelLayers& model, const Times& times) {
  ResultDatabase all;
  for (const auto& file : times.results) {
    if (std::filesystem::is_directory(file)) all.add(ResultDatabase::open(file));
    else all.add(read_run(file));
  }
  BoundReport report{.machine = all.machine(), .backends = all.newest_versions(all.machine())};
  const ResultDatabase results = all.select(report.machine, report.backends);
  report.models = {
      analyze(model, results, {.threads = times.threads, .backends = times.backends, .candidates = times.plans})};
  report.warnings = warnings_of(results);
  report.runs = summarize_runs(results);
  return report;
}

BoundReport measured_bound(const ModelLayers& model, const Times& times) {
  const Again again = times.budget ? Again::uncertain : Again::nothing;
  Session session = Session::open({.threads = times.threads,
                                   .database = times.database.value_or(default_database()),
                                   .warn = warn,
                                   .backend_names = times.backends,
                                   .worker = {program(), "worker"}});
  session.keep_candidates(times.plans);
  int stopped_by = 0;
  {
    const isolation::InterruptWatch interrupt;
    BoundOptions options{.again = again, .stop = interrupt.stop_token()};
    if (times.budget) options.budget = Seconds{*times.budget};
    const Measured measured = session.measure_missing(std::span(&model, 1), options);
    if (!measured.not_kept.empty()) throw EnvironmentError(measured.not_kept);
    if (interrupt.interrupted()) stopped_by = interrupt.exit_code() - 128;
  }
  if (stopped_by != 0) {
    std::raise(stopped_by);
    const nb::gil_scoped_acquire python;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return {.machine = session.machine(),
          .backends = session.versions(),
          .models = session.analyze(std::span(&model, 1)),
          .warnings = warnings_of(session.database()),
          .runs = summarize_runs(session.database())};
}

BoundReport bound_of(const ModelLayers& model, const Times& times) {
  return times.results.empty() ? measured_bound(model, times) : stored_bound(model, times);
}

std::optional<RungName> rung_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  for (std::size_t i = 0; i < rung_count; ++i)
    if (enum_names(RungName{})[i] == *text) return static_cast<RungName>(i);
  throw UsageError("rung: '" + *text + "' is not a rung");
}

nb::object layers(const std::filesystem::path& model, const std::optional<std::int64_t>& batch, const Sizes& dims,
                  bool fused) {
  return dictionary([&] {
    const nb::gil_scoped_release others;
    return make_layers_report(layers_of(model, batch, dims), fused ? LayersForm::fused : LayersForm::single);
  }());
}

nb::object bound(const std::filesystem::path& model, const std::optional<std::int64_t>& batch, const Sizes& dims,
                 const Files& results, const std::vector<std::string>& backends, int threads,
                 const std::optional<double>& budget, const std::optional<std::filesystem::path>& database,
                 bool plans) {
  return dictionary([&] {
    const nb::gil_scoped_release others;
    return bound_of(layers_of(model, batch, dims), {results, backends, threads, budget, database, plans});
  }());
}

nb::object gap(const std::filesystem::path& model, const Files& profile, const std::vector<double>& latency,
               const std::optional<std::string>& rung, const std::optional<std::int64_t>& batch, const Sizes& dims,
               const Files& results, const std::vector<std::string>& backends, int threads,
               const std::optional<double>& budget, const std::optional<std::filesystem::path>& database) {
  if (profile.empty() && latency.empty()) throw UsageError("give profile or latency: they say what the engine did");
  return dictionary([&] {
    const nb::gil_scoped_release others;
    std::vector<Seconds> latencies;
    for (const double one : latency) latencies.push_back({one});
    GapReport report;
    if (profile.empty()) {
      report.profile = latency_profile(std::move(latencies));
    } else {
      report.profile = read_profile(profile);
      report.profile.latencies_apart = !latencies.empty();
      if (!latencies.empty()) report.profile.latencies = std::move(latencies);
    }
    const ModelLayers layers = layers_of(model, batch, dims);
    const int used = threads > 0 ? threads : report.profile.threads.value_or(0);
    report.bound = bound_of(layers, {results, backends, used, budget, database, true});
    report.gap = compare(report.bound.models.front(), layers, report.profile, {.rung = rung_of(rung)});
    return report;
  }());
}

/// The types of tensors that NumPy has.
constexpr std::pair<DataType, nb::dlpack::dtype> array_types[] = {
    {DataType::f16, {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1}},
    {DataType::f32, nb::dtype<float>()},
    {DataType::f64, nb::dtype<double>()},
    {DataType::i8, nb::dtype<std::int8_t>()},
    {DataType::i16, nb::dtype<std::int16_t>()},
    {DataType::i32, nb::dtype<std::int32_t>()},
    {DataType::i64, nb::dtype<std::int64_t>()},
    {DataType::u8, nb::dtype<std::uint8_t>()},
    {DataType::u16, nb::dtype<std::uint16_t>()},
    {DataType::u32, nb::dtype<std::uint32_t>()},
    {DataType::u64, nb::dtype<std::uint64_t>()},
    {DataType::boolean, nb::dtype<bool>()},
};

/// Shares the elements of the array, which must outlive the tensor.
Tensor tensor_of(const std::string& input, const InputArrayOf& array) {
  Tensor::Dims dims;
  for (std::size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<std::int64_t>(array.shape(i)));
  for (const auto& [type, dtype] : array_types)
    if (dtype == array.dtype()) return {type, std::move(dims), nullptr, array.data()};
  throw InputError("input '" + input + "': no tensor of a model has elements of this type");
}

/// An array of a copy of the elements, since an output may share those of an input or of the file; types that NumPy
/// does not have become f32.
nb::object array_of(const Tensor& tensor) {
  const auto* found = std::find_if(std::begin(array_types), std::end(array_types),
                                   [&](const auto& one) { return one.first == tensor.type(); });
  if (found == std::end(array_types)) return array_of(Tensor::of(DataType::f32, tensor.dims(), tensor.values()));
  auto copy = std::make_unique<Tensor>(tensor.type(), tensor.dims());
  if (tensor.bytes() > 0) std::memcpy(copy->writable(), tensor.data(), tensor.bytes());
  void* const elements = copy->writable();
  const nb::capsule owner(copy.release(), [](void* made) noexcept { delete static_cast<Tensor*>(made); });
  const std::vector<std::size_t> shape(tensor.dims().begin(), tensor.dims().end());
  return nb::ndarray<nb::numpy>(elements, shape.size(), shape.data(), owner, nullptr, found->second).cast();
}

nb::dict run(const std::filesystem::path& model, const std::map<std::string, InputArrayOf>& inputs,
             const std::optional<std::int64_t>& batch, const Sizes& dims, const std::vector<std::string>& backends,
             int threads, const std::optional<std::uint64_t>& weight_seed) {
  std::map<std::string, Tensor> tensors;
  ImportOptions sizes{.batch = batch, .dims = dims};
  for (const auto& [name, array] : inputs) {
    const Tensor& tensor = tensors[name] = tensor_of(name, array);
    sizes.arrays[name] = {.dims = tensor.dims(), .described = described(tensor.type(), tensor.dims())};
  }
  const Execution done = [&] {
    const nb::gil_scoped_release others;
    return Executor::load(model, {.import = sizes,
                                  .backends = usable_backends(backends, warn),
                                  .threads = threads,
                                  .weight_seed = weight_seed})
        .run(tensors);
  }();
  if (!done.not_computed.empty())
    throw InputError("output '" + done.not_computed.front() + "' is computed by no layer");
  nb::dict outputs;
  for (const auto& [name, tensor] : done.outputs) outputs[name.c_str()] = array_of(tensor);
  return outputs;
}

}  // namespace

NB_MODULE(_benanza, module) {
  module.attr("__version__") = std::string(version);
  nb::exception<InputError>(module, "InputError", PyExc_ValueError);
  nb::exception<UsageError>(module, "UsageError", PyExc_ValueError);
  nb::exception<EnvironmentError>(module, "EnvironmentError", PyExc_OSError);
  module.def("layers", &layers, "model"_a, nb::kw_only(), "batch"_a = nb::none(), "dims"_a = Sizes{}, "fused"_a = false,
             R"(The unique layers of a model: what `benanza layers MODEL --json -` writes.

fused: the groups of the fused form instead of the nodes.)");
  module.def("bound", &bound, "model"_a, nb::kw_only(), "batch"_a = nb::none(), "dims"_a = Sizes{},
             "results"_a = Files{}, "backends"_a = std::vector<std::string>{}, "threads"_a = 0, "budget"_a = nb::none(),
             "database"_a = nb::none(), "plans"_a = false,
             R"(The ladder of bounds of a model: what `benanza bound MODEL --json -` writes.

Measures the layers that the database lacks, for `budget` seconds, unless `results` names files or folders of results.)");
  module.def("gap", &gap, "model"_a, nb::kw_only(), "profile"_a = Files{}, "latency"_a = std::vector<double>{},
             "rung"_a = nb::none(), "batch"_a = nb::none(), "dims"_a = Sizes{}, "results"_a = Files{},
             "backends"_a = std::vector<std::string>{}, "threads"_a = 0, "budget"_a = nb::none(),
             "database"_a = nb::none(),
             R"(An engine's run compared with the bounds of its model: what `benanza gap MODEL --json -` writes.

profile: the files of one run of the engine. latency: seconds of whole runs. rung: that the engine is compared with, by default
the headline, library_fused_resident.)");
  module.def("run", &run, "model"_a, "inputs"_a = std::map<std::string, InputArrayOf>{}, nb::kw_only(),
             "batch"_a = nb::none(), "dims"_a = Sizes{}, "backends"_a = std::vector<std::string>{}, "threads"_a = 1,
             "weight_seed"_a = nb::none(),
             R"(Executes a model once, as `benanza run` does, and returns the outputs by name.

inputs: an array for each input. weight_seed: random numbers for weights that the file lacks.)");
}
