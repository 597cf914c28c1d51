// cuDNN's graph API by its backend calls: descriptors, a graph of operations, and the plans that cuDNN lists for it.
#include "cudnn_backend.hpp"

#include <utility>

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t made = nullptr;
  CHECK_CUDNN(cudnnBackendCreateDescriptor(type, &made));
  held_.reset(made, [](void* descriptor) { static_cast<void>(cudnnBackendDestroyDescriptor(descriptor)); });
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                            const void* values) {
  CHECK_CUDNN(cudnnBackendSetAttribute(get(), name, type, count, values));
  return *this;
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor& other) {
  return set(name, std::vector<Descriptor>{other});
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& others) {
  std::vector<cudnnBackendDescriptor_t> given;
  for (const Descriptor& other : others) {
    given.push_back(other.get());
    keep(other);
  }
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(given.size()), given.data());
}

Descriptor& Descriptor::finalize() {
  CHECK_CUDNN(cudnnBackendFinalize(get()));
  return *this;
}

void Descriptor::keep(const Descriptor& other) {
  parts_.push_back(other.held_);
  parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
}

Descriptor Graph::tensor(std::int64_t number, const Sizes& dims, const Sizes& strides, cudnnDataType_t type,
                         bool is_virtual, bool by_value) {
  constexpr std::int64_t alignment = 16;
  Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, number)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
  if (is_virtual) made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
  if (by_value) made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
  made.finalize();
  return made;
}

Descriptor Graph::input(const Sizes& dims, const Sizes& strides, cudnnDataType_t type, bool weights, bool positive) {
  const auto number = static_cast<std::int64_t>(tensors_.size()) + 1;
  tensors_.push_back({number, product(dims), type, weights, positive});
  return tensor(number, dims, strides, type, false, false);
}

Descriptor Graph::output(const Sizes& dims, const Sizes& strides, cudnnDataType_t type) {
  tensors_.push_back({output_number, product(dims), type});
  return tensor(output_number, dims, strides, type, false, false);
}

Descriptor Graph::between(const Sizes& dims, const Sizes& strides, cudnnDataType_t type) {
  return tensor(between_++, dims, strides, type, true, false);
}

Descriptor Graph::number(float value, std::size_t rank) {
  Sizes ones;
  for (; ones.count < rank; ++ones.count) ones.values[ones.count] = 1;
  numbers_.push_back(std::make_shared<float>(value));
  return tensor(first_host_number + static_cast<std::int64_t>(numbers_.size()) - 1, ones, ones, CUDNN_DATA_FLOAT, false,
                true);
}

void Graph::add(Descriptor& operation) { operations_.push_back(operation.finalize()); }

namespace {

/// The descriptors of an attribute.
std::vector<Descriptor> descriptors_of(const Descriptor& of, cudnnBackendAttributeName_t name,
                                       cudnnBackendDescriptorType_t type, std::int64_t most) {
  std::vector<Descriptor> made;
  std::vector<cudnnBackendDescriptor_t> given;
  for (std::int64_t i = 0; i < most; ++i) given.push_back(made.emplace_back(type).get());
  std::int64_t count = 0;
  CHECK_CUDNN(cudnnBackendGetAttribute(of.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, given.data()));
  made.erase(made.begin() + std::min(count, most), made.end());
  return made;
}

template <class T>
T value_of(const Descriptor& of, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) {
  T value{};
  std::int64_t count = 0;
  CHECK_CUDNN(cudnnBackendGetAttribute(of.get(), name, type, 1, &count, &value));
  return value;
}

/// `eng47_k2=1_k13=0`: the engine and the choices of its knobs, in the order of the knobs.
std::string name_of(const Descriptor& configuration, const Descriptor& engine) {
  std::vector<std::pair<int, std::int64_t>> knobs;
  for (const Descriptor& knob : descriptors_of(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                               CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS))
    knobs.emplace_back(value_of<cudnnBackendKnobType_t>(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE),
                       value_of<std::int64_t>(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64));
  std::sort(knobs.begin(), knobs.end());
  std::string name =
      "eng" + std::to_string(value_of<std::int64_t>(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64));
  for (const auto& [type, choice] : knobs) name += "_k" + std::to_string(type) + "=" + std::to_string(choice);
  return name;
}

/// What cuDNN notes of how an engine computes.
std::set<cudnnBackendNumericalNote_t> notes_of(const Descriptor& engine) {
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  std::int64_t count = 0;
  CHECK_CUDNN(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                       CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes.data()));
  return {notes.begin(), notes.begin() + count};
}

/// The configurations that one kind of heuristics lists.
std::vector<Descriptor> configurations_of(const Descriptor& operations, cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
      .finalize();
  std::int64_t count = 0;
  CHECK_CUDNN(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       0, &count, nullptr));
  auto result = descriptors_of(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count);
  for (Descriptor& configuration : result) configuration.keep(operations);
  return result;
}

/// Those of all kinds; one that has none for this graph fails.
std::vector<Descriptor> all_configurations(const Descriptor& operations) {
  std::vector<Descriptor> result;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    try {
      const auto found = configurations_of(operations, mode);
      result.insert(result.end(), found.begin(), found.end());
    } catch (const Skipped&) {
      continue;
    }
  }
  return result;
}

cudaDataType_t cuda_type(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF: return CUDA_R_16F;
    case CUDNN_DATA_BFLOAT16: return CUDA_R_16BF;
    case CUDNN_DATA_FP8_E4M3: return CUDA_R_8F_E4M3;
    case CUDNN_DATA_FP8_E5M2: return CUDA_R_8F_E5M2;
    case CUDNN_DATA_INT8: return CUDA_R_8I;
    case CUDNN_DATA_INT32: return CUDA_R_32I;
    default: return CUDA_R_32F;
  }
}

Ready prepare(const Graph& graph, const Descriptor& configuration, Cache cache) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  try {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, cudnn())
        .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration)
        .finalize();
  } catch (const Skipped& error) {
    throw Skipped(std::string("not offered: ") + error.what());
  }
  const auto bytes = value_of<std::int64_t>(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64);
  const Memory workspace(static_cast<std::size_t>(std::max<std::int64_t>(0, bytes)));
  const auto buffers = std::make_shared<Buffers>(cache);
  std::vector<std::int64_t> numbers;
  for (const auto& tensor : graph.tensors()) {
    buffers->add(elements(cuda_type(tensor.type), tensor.count, tensor.positive), tensor.weights);
    numbers.push_back(tensor.number);
  }
  buffers->spread();
  for (std::size_t i = 0; i < graph.numbers().size(); ++i)
    numbers.push_back(Graph::first_host_number + static_cast<std::int64_t>(i));
  const auto count = static_cast<std::int64_t>(numbers.size());
  std::vector<Descriptor> packs;  // the addresses of each copy
  for (std::size_t copy = 0; copy < buffers->copies(); ++copy) {
    std::vector<void*> addresses;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i) addresses.push_back(buffers->at(i, copy));
    for (const auto& number : graph.numbers()) addresses.push_back(number.get());
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, numbers.data())
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, addresses.data())
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace.get())
        .finalize();
    packs.push_back(pack);
  }
  return {.call = [=](std::size_t copy) { CHECK_CUDNN(cudnnBackendExecute(cudnn(), plan.get(), packs[copy].get())); },
          .copies = buffers->copies()};
}

}  // namespace

std::string add_plans(const char* signature, const Work& work, const Graph& graph, bool strict,
                      const std::string& suffix) {
  Descriptor operations(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  operations.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, cudnn())
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, graph.operations())
      .finalize();
  const bool weights = std::any_of(graph.tensors().begin(), graph.tensors().begin() + 2,
                                   [](const auto& tensor) { return tensor.weights; });
  std::set<std::string> names;  // the heuristics list many configurations twice
  const std::vector<Descriptor> configurations = all_configurations(operations);
  for (const Descriptor& configuration : configurations) {
    const Descriptor engine =
        descriptors_of(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1).at(0);
    const auto notes = notes_of(engine);
    const auto has = [&](cudnnBackendNumericalNote_t note) { return notes.count(note) > 0; };
    if (strict && (has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
                   has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)))
      continue;
    const std::string plan = "cudnn/graph:" + name_of(configuration, engine) + suffix + ",threads=1";
    if (!names.insert(plan).second) continue;
    add_row(
        plan, signature, work, weights, [=](Cache cache) { return prepare(graph, configuration, cache); },
        has(CUDNN_NUMERICAL_NOTE_WINOGRAD) || has(CUDNN_NUMERICAL_NOTE_FFT));
  }
  if (!names.empty()) return "";
  return configurations.empty() ? "cuDNN lists no engine"
                                : "none of the engines that cuDNN lists multiplies in this type";
}
