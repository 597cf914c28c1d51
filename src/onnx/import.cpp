// SPDX-License-Identifier: Apache-2.0
// import_onnx: map the file, drop payloads, parse, check, bind, build.
#include "bind.hpp"
#include "build.hpp"
#include "check.hpp"
#include "mapped_file.hpp"
#include "propose.hpp"
#include "proto.hpp"
#include "scan.hpp"
#include <benanza/onnx.hpp>

#include <google/protobuf/arena.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace benanza {
namespace {

/// The message is in `arena`, since its thousands of small parts are freed all at once.
onnx::ModelProto& parse(const std::filesystem::path& path, bool with_places, google::protobuf::Arena& arena) {
  const importer::MappedFile file(path);
  const std::string structure = importer::drop_payloads(file.bytes(), with_places, path);
  if (structure.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("its structure alone takes " + std::to_string(structure.size()) +
                     " bytes, expected less than 2^31");
  auto& model = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  if (!model.ParseFromArray(structure.data(), static_cast<int>(structure.size())))
    throw InputError("not an ONNX model: its fields are not those of onnx.proto");
  return model;
}

/// The last known history of a file, and the inputs for which it was made. Threads may share it.
class KnownHistory {
 public:
  /// Null if it is that of other inputs.
  [[nodiscard]] importer::LazyHistory::Shared of(const importer::Binding& binding) {
    const std::lock_guard lock(mutex_);
    const bool is_same =
        std::equal(inputs_.begin(), inputs_.end(), binding.inputs.begin(), binding.inputs.end(),
                   [](const auto& a, const auto& b) { return a.dims == b.dims && a.value == b.value; });
    return is_same ? history_ : nullptr;
  }
  importer::LazyHistory::Shared keep(std::vector<importer::BoundInput> inputs, importer::History history) {
    const std::lock_guard lock(mutex_);
    inputs_ = std::move(inputs);
    return history_ = std::make_shared<const importer::History>(std::move(history));
  }

  /// What `find` says, which is asked once.
  [[nodiscard]] bool second_axis_is_batch(const std::function<bool()>& find) {
    {
      const std::lock_guard lock(mutex_);
      if (second_axis_) return *second_axis_;
    }
    const bool found = find();
    const std::lock_guard lock(mutex_);
    second_axis_ = found;
    return found;
  }

 private:
  std::mutex mutex_{};
  std::optional<bool> second_axis_{};
  std::vector<importer::BoundInput> inputs_{};
  importer::LazyHistory::Shared history_{};
};

class Importer {
 public:
  Importer(const onnx::ModelProto& model, const std::filesystem::path& file, const ImportOptions& options,
           KnownHistory& known, bool again)
      : model_(model), file_(file), options_(options), known_(known), again_(again), visits_(model) {}

  [[nodiscard]] Graph run() {
    const importer::Binding binding = importer::bind_inputs(model_.graph(), options_);
    if (!binding.unbound.empty()) return build_open(binding);
    importer::Trial trial;
    try {
      Graph graph = build(binding, options_, trial);
      if (binding.may_be_second && trial.may_combine_items && second_axis_is_batch()) return with_second_axis(&graph);
      return with_separate_items(std::move(graph), binding, trial.combines_items);
    } catch (const InputError& error) {
      if (binding.may_be_second && binding.is_asked && second_axis_is_batch()) return with_second_axis(nullptr);
      if (const auto values = values_that_help(trial.scalars); !values.empty()) {
        std::string inputs;
        for (const auto& [name, value] : values)
          inputs += (inputs.empty() ? "'" : ", '") + name + "' (--value " + name + "=VALUE)";
        UnboundError asking(std::string(error.what()) + "; the value of an input decides: " + inputs);
        asking.values = values;
        asking.assumed = binding.assumed;
        throw asking;
      }
      throw;
    }
  }

 private:
  /// Whether the batch is the second axis, as in [length, batch, size]: other sizes of the first one make nodes combine
  /// what lies along it, and other sizes of the second one do not, and reach an output.
  [[nodiscard]] bool second_axis_is_batch() {
    return known_.second_axis_is_batch([this] {
      const auto separates = [this](std::size_t axis) {
        try {
          ImportOptions options = options_;
          options.batch.reset();
          for (auto& each : options.defaults) each.batch.reset();
          const importer::Binding own = importer::bind_inputs(model_.graph(), options, axis);
          options.batch = 2 * std::max<std::int64_t>(own.batch, 1);
          const importer::Binding probed = importer::bind_inputs(model_.graph(), options, axis);
          importer::Trial trial;
          if (!probed.unbound.empty() || (axis == 1) == probed.leads) return false;
          (void)build(probed, options, trial);
          return trial.combines_items.empty() && trial.batch_reaches_output;
        } catch (const Error&) {
          return false;
        }
      };
      return !separates(0) && separates(1);
    });
  }

  /// `own`: the graph, if no batch is asked for.
  Graph with_second_axis(Graph* own) {
    const importer::Binding binding = importer::bind_inputs(model_.graph(), options_, 1);
    if (!binding.is_asked && own != nullptr) {
      own->batch = binding.batch;
      return std::move(*own);
    }
    importer::Trial ignored;
    Graph graph = build(binding, options_, ignored);
    graph.warnings.emplace_back(
        "the batch is taken to be axis 1 of the inputs, since nodes combine what lies along axis 0");
    return graph;
  }

  /// `node` of the graph combines the items of a batch with each other. A file of fixed sizes has no meaning at that
  /// batch; one of open sizes computes what it says.
  static Graph with_separate_items(Graph graph, const importer::Binding& binding, const std::string& node) {
    if (node.empty() || !binding.is_asked) return graph;
    const std::string what =
        "node " + node + " combines the items of a batch with each other, so that its work grows faster than the batch";
    if (binding.is_frozen)
      throw InputError("it has no batch of " + std::to_string(binding.batch) + ": " + what +
                       "; it is made for a batch of " + std::to_string(*binding.old_batch));
    graph.warnings.push_back(what);
    return graph;
  }

  /// If it throws, `trial` says how far it got.
  Graph build(const importer::Binding& binding, const ImportOptions& options, importer::Trial& trial) {
    importer::LazyHistory history([&] { return history_of(binding, options); });
    importer::History own;
    const bool is_kept = again_ && !binding.old_batch;
    importer::Builder builder(model_, binding, visits_, binding.old_batch ? &history : nullptr,
                              is_kept ? &own : nullptr);
    try {
      Graph graph = builder.build();
      if (is_kept) known_.keep(binding.inputs, std::move(own));
      trial = {.fits = true,
               .nodes = builder.visited(),
               .outputs = outputs_as_declared(graph),
               .may_combine_items = builder.may_combine_items(),
               .batch_reaches_output = binding.may_be_second && builder.batch_reaches_output(),
               .combines_items = builder.combines_items()};
      return graph;
    } catch (const Error&) {
      trial = {.nodes = builder.visited(), .sizes = builder.sizes_at_error(), .scalars = builder.scalars_at_error()};
      throw;
    }
  }

  /// What the graph is with the file's own batch, which shows what is frozen. Empty if the model does not work with it.
  importer::LazyHistory::Shared history_of(const importer::Binding& binding, const ImportOptions& options) {
    importer::Binding old;
    importer::History history;
    try {
      old = importer::at_old_batch(binding, options, model_.graph());
      if (auto known = known_.of(old)) return known;
      if (old.unbound.empty()) (void)importer::Builder(model_, old, visits_, nullptr, &history).build();
    } catch (const Error&) {
      history.clear();
    }
    return known_.keep(std::move(old.inputs), std::move(history));
  }

  /// Likely values of scalar inputs, if the model can be built with them.
  [[nodiscard]] importer::Sizes values_that_help(const std::vector<std::string>& scalars) {
    ImportOptions options = options_;
    importer::Sizes values;
    for (const auto& name : scalars) {
      values.emplace_back(name, importer::likely_value(name));
      options.values[name] = values.back().second;
    }
    try {
      importer::Trial ignored;
      if (!values.empty()) (void)build(importer::bind_inputs(model_.graph(), options), options, ignored);
      return values;
    } catch (const Error&) {
      return {};
    }
  }

  [[nodiscard]] ImportOptions at(const importer::Sizes& sizes) const {
    ImportOptions options = options_;
    for (const auto& [symbol, size] : sizes) options.dims[symbol] = size;
    return options;
  }

  importer::Trial attempt(const importer::Sizes& sizes) {
    importer::Trial trial;
    try {
      const ImportOptions options = at(sizes);
      (void)build(importer::bind_inputs(model_.graph(), options), options, trial);
    } catch (const Error&) {
      // The trial says how far it got.
    }
    return trial;
  }

  /// The error that occurs at these sizes.
  [[nodiscard]] std::string error_at(const importer::Sizes& sizes) {
    std::string text = "at";
    for (const auto& [symbol, size] : sizes) text += " " + symbol + "=" + std::to_string(size);
    try {
      const ImportOptions options = at(sizes);
      importer::Trial ignored;
      (void)build(importer::bind_inputs(model_.graph(), options), options, ignored);
    } catch (const Error& error) {
      text += std::string(": ") + error.what();
    }
    return text;
  }

  Graph build_open(const importer::Binding& binding) {
    std::string text;
    for (const auto& item : binding.unbound) text += (text.empty() ? "" : ", ") + item;
    text = "dimensions of its inputs are not bound: " + text;
    if (binding.unbound.size() > binding.open.size()) throw UnboundError(text);  // some input does not even have a rank
    const importer::Proposal proposal =
        importer::propose_sizes(model_.graph(), binding.open, importer::image_sizes_of(model_, file_.stem().string()),
                                [this](const importer::Sizes& sizes) { return attempt(sizes); });
    if (!proposal.fits) throw UnboundError(text + "; " + error_at(proposal.sizes));
    if (!proposal.certain) {
      UnboundError error(text);
      error.likely = proposal.sizes;
      error.assumed = binding.assumed;
      throw error;
    }
    const ImportOptions options = at(proposal.sizes);
    importer::Trial ignored;
    Graph graph = build(importer::bind_inputs(model_.graph(), options), options, ignored);
    graph.assumed.insert(proposal.sizes.begin(), proposal.sizes.end());
    return graph;
  }

  [[nodiscard]] std::size_t outputs_as_declared(const Graph& graph) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const auto& shape = model_.graph().output(static_cast<int>(i)).type().tensor_type().shape();
      const Value& value = graph.values[graph.outputs[i]];
      bool same = value.data_dependent || static_cast<std::size_t>(shape.dim_size()) == value.dims.size();
      for (std::size_t k = 0; same && !value.data_dependent && k < value.dims.size(); ++k) {
        const auto& dim = shape.dim(static_cast<int>(k));
        same = !dim.has_dim_value() || dim.dim_value() < 0 || dim.dim_value() == value.dims[k];
      }
      result += same ? 1 : 0;
    }
    return result;
  }

  const onnx::ModelProto& model_;
  const std::filesystem::path& file_;
  const ImportOptions& options_;
  KnownHistory& known_;
  bool again_;
  importer::Visits visits_;
};

/// What `work` returns. Its errors get the name of the file.
template <class Work>
auto located(const std::filesystem::path& file, const Work& work) {
  const std::string where = file.string() + ": ";
  try {
    return work();
  } catch (UnboundError& error) {
    UnboundError located(where + importer::one_line(error.what()));
    located.likely = std::move(error.likely);
    located.values = std::move(error.values);
    located.assumed = std::move(error.assumed);
    throw located;
  } catch (const InputError& error) {
    throw InputError(where + importer::one_line(error.what()));
  } catch (const UsageError& error) {
    throw UsageError(where + importer::one_line(error.what()));
  } catch (const std::bad_alloc&) {
    throw EnvironmentError(where + "out of memory");
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(where + importer::one_line(error.what()));
  }
}

}  // namespace

struct OnnxFile::Parsed {
  std::filesystem::path file{};
  bool executable = false;
  google::protobuf::Arena arena{};
  onnx::ModelProto* model = nullptr;  // in the arena
  std::vector<std::string> warnings{};
  KnownHistory history{};
};

OnnxFile::OnnxFile(const std::filesystem::path& file, bool executable) : parsed_(std::make_unique<Parsed>()) {
  parsed_->file = file;
  parsed_->executable = executable;
  located(file, [&] {
    parsed_->model = &parse(file, executable, parsed_->arena);
    parsed_->warnings = importer::check_and_inline(*parsed_->model);
  });
}
OnnxFile::OnnxFile(OnnxFile&&) noexcept = default;
OnnxFile& OnnxFile::operator=(OnnxFile&&) noexcept = default;
OnnxFile::~OnnxFile() = default;

Graph OnnxFile::graph(const ImportOptions& options, bool again) const {
  return located(parsed_->file, [&] {
    ImportOptions given = options;
    given.executable = parsed_->executable;
    Graph graph = Importer(*parsed_->model, parsed_->file, given, parsed_->history, again).run();
    graph.warnings.insert(graph.warnings.begin(), parsed_->warnings.begin(), parsed_->warnings.end());
    graph.name = parsed_->file.stem().string();
    graph.file = parsed_->file.string();
    return graph;
  });
}

Graph import_onnx(const std::filesystem::path& file, const ImportOptions& options) {
  return OnnxFile(file, options.executable).graph(options);
}

}  // namespace benanza
