// oneDNN: from a primitive descriptor to rows.
#include "onednn.hpp"

#include <map>
#include <numeric>

const dnnl::engine& engine() {
  static const dnnl::engine made(dnnl::engine::kind::cpu, 0);
  return made;
}

namespace {

dnnl::stream& stream() {
  static dnnl::stream made(engine());
  return made;
}

}  // namespace

Desc row_major(const Dims& dims, Type type) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return Desc(dims, type, strides);
}

Desc transposed(const Dims& dims, Type type) {
  const std::size_t n = dims.size();
  Dims strides(n, 1);
  strides[n - 1] = dims[n - 2];
  if (n > 2) strides[n - 3] = dims[n - 1] * dims[n - 2];
  for (std::size_t i = n - 2; i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return Desc(dims, type, strides);
}

namespace {

std::int64_t channel_block() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx2_vnni_2: return 8;
    default: return 16;
  }
}

}  // namespace

Desc broadcast_in_form(const Dims& dims, Form form, Type type) {
  if (form == Form::chosen) return row_major(dims, type);
  if (form != Form::blocked || dims[1] == 1) return row_major(dims, type);
  const std::size_t rank = dims.size() - 3;
  return Desc(dims, type,
              channel_block() == 8 ? std::array{Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b}[rank]
                                   : std::array{Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b}[rank]);
}

bool has_form(const Dims& dims, Form form) {
  if (form == Form::plain || form == Form::chosen) return true;
  if (dims.size() < 3 || dims.size() > 5 || dims[1] == 1) return false;
  if (std::all_of(dims.begin() + 2, dims.end(), [](auto dim) { return dim == 1; })) return false;
  return form == Form::channels_last || dims[1] % channel_block() == 0;
}

Desc in_form(const Dims& dims, Form form, Type type) {
  if (form == Form::chosen) return Desc(dims, type, Tag::any);
  if (form == Form::plain || !has_form(dims, form)) return row_major(dims, type);
  if (form == Form::blocked) return broadcast_in_form(dims, form, type);
  return Desc(dims, type, std::array{Tag::acb, Tag::acdb, Tag::acdeb}[dims.size() - 3]);
}

dnnl::primitive_attr attributes(const dnnl::post_ops& post) {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  result.set_fpmath_mode(dnnl::fpmath_mode::strict);
  if (post.len() > 0) result.set_post_ops(post);
  return result;
}

namespace {

/// A sum that can be done in place: not of a constant, which would be copied before each call.
bool is_sum_of(const Step& step, const Dims& y) {
  return step.function == dnnl::algorithm::binary_add && dims(step.operand) == y && !step.weights;
}

}  // namespace

std::vector<bool> ways_of_epilogue(const List<Step>& steps, const Dims& y, Type src) {
  const bool scaled = src == Type::s8 || src == Type::u8;
  for (const Step& step : steps)
    if (!scaled && is_sum_of(step, y)) return {false, true};
  return {false};
}

dnnl::post_ops post_ops(const List<Step>& steps, const Dims& y, Form form, Type type, std::vector<Argument>& arguments,
                        bool in_place) {
  dnnl::post_ops result;
  for (const Step& step : steps) {
    if (step.operand.empty()) {
      result.append_eltwise(step.function, step.alpha, step.beta);
      continue;
    }
    if (in_place && is_sum_of(step, y)) {
      result.append_sum();
      in_place = false;
      continue;
    }
    const Dims operand = dims(step.operand);
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(result.len()) | DNNL_ARG_SRC_1;
    result.append_binary(step.function,
                         operand == y ? in_form(operand, form, type) : broadcast_in_form(operand, form, type));
    arguments.push_back(
        {.argument = argument, .tensor = "operand" + std::to_string(result.len()), .weights = step.weights});
  }
  return result;
}

void scale(const Scaling& scaling, bool scales_result, dnnl::primitive_attr& attributes,
           std::vector<Argument>& arguments) {
  const auto number = [&](int argument, std::int64_t count, double value, Type type) {
    arguments.push_back({.argument = argument,
                         .tensor = "number" + std::to_string(argument),
                         .fill = Fill::number,
                         .number = value,
                         .own = row_major({count}, type)});
  };
  if (scaling.scaled) {
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    attributes.set_scales_mask(DNNL_ARG_WEIGHTS, scaling.mask);
    number(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, 1, 1, Type::f32);
    number(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scaling.mask == 0 ? 1 : scaling.channels, scaling.weights,
           Type::f32);
    if (scales_result) attributes.set_scales_mask(DNNL_ARG_DST, 0);
    if (scales_result) number(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, 1, 1, Type::f32);
  }
  if (scaling.src_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (scaling.src_zero != 0) number(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, 1, scaling.src_zero, Type::s32);
  if (scaling.weights_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
  if (scaling.weights_zero != 0)
    number(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, 1, scaling.weights_zero, Type::s32);
}

namespace {

/// Layouts as plans name them: `aBcd8b`; nothing for one that puts the elements where `plain` does.
std::string layout_key(const char* key, const Desc& desc, const Desc& plain) {
  const Dims dims = desc.get_dims(), strides = desc.get_strides(), blocks = desc.get_inner_blks(),
             of = desc.get_inner_idxs();
  const std::string start = std::string(",") + key + "=";
  if (desc.get_format_kind() != dnnl::memory::format_kind::blocked)
    return start + "opaque" + std::to_string(desc.get_size());
  const auto elements =
      static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
  const bool vector = std::count(dims.begin(), dims.end(), 1) + 1 >= static_cast<std::ptrdiff_t>(dims.size()) &&
                      desc.get_size() == elements * dnnl::memory::data_type_size(desc.get_data_type());
  bool same = blocks.empty();
  for (std::size_t i = 0; i < dims.size(); ++i) same = same && (dims[i] == 1 || strides[i] == plain.get_strides()[i]);
  if (vector || same) return "";
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return strides[i] > strides[j]; });
  std::string name = start;
  for (const auto i : order)
    name += static_cast<char>((std::count(of.begin(), of.end(), static_cast<std::int64_t>(i)) > 0 ? 'A' : 'a') +
                              static_cast<int>(i));
  for (std::size_t i = 0; i < blocks.size(); ++i) name += std::to_string(blocks[i]) + static_cast<char>('a' + of[i]);
  return name;
}

/// Memory of a layout with its contents: those that are given; random numbers in [-1, 1], of integers in [-100, 100];
/// between 0.5 and 1.5; or one number.
dnnl::memory filled(const Desc& wanted, const Argument& argument) {
  const Dims sizes = wanted.get_dims();
  dnnl::memory plain(row_major(sizes, Type::f32), engine()), result(wanted, engine());
  auto* const values = static_cast<float*>(plain.get_data_handle());
  const auto count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  const auto type = wanted.get_data_type();
  const float most = type == Type::s8 || type == Type::u8 || type == Type::s32 ? 100.0F : 1.0F;
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = argument.values                   ? (*argument.values)[static_cast<std::size_t>(i)]
                : argument.fill == Fill::number   ? static_cast<float>(argument.number)
                : argument.fill == Fill::positive ? 1 + numbers.next() / 2
                                                  : most * numbers.next();
  dnnl::reorder(plain, result).execute(stream(), plain, result);
  stream().wait();
  return result;
}

/// Creates primitives and operands. Each call of the result executes the primitives once.
Ready prepare(const std::vector<Call>& calls, int threads, Cache cache) {
  use_threads(threads);
  struct Bound {
    dnnl::memory memory{};
    std::size_t operand = 0;
  };
  struct Step {
    dnnl::primitive primitive{};
    std::vector<dnnl_exec_arg_t> arguments{};
  };
  struct State {
    explicit State(Cache cache) : buffers(cache) {}
    Buffers buffers;
    std::vector<Bound> bound{};
    std::vector<Step> steps{};
    std::vector<dnnl::memory> scratchpads{};
  };
  const auto state = std::make_shared<State>(cache);
  std::map<std::string, std::size_t> tensors;
  for (const Call& call : calls)
    for (const Argument& argument : call.arguments) {
      if (tensors.count(argument.tensor) > 0) continue;
      const Desc desc =
          argument.own ? *argument.own : call.descriptor.query_md(dnnl::query::exec_arg_md, argument.argument);
      const dnnl::memory contents = filled(desc, argument);
      tensors[argument.tensor] = state->buffers.add(contents.get_data_handle(), desc.get_size(), argument.weights);
    }
  state->buffers.spread();
  for (const Call& call : calls) {
    dnnl_primitive_t made = nullptr;
    dnnl::error::wrap_c_api(dnnl_primitive_create(&made, call.descriptor.get()), "dnnl_primitive_create failed");
    Step step;
    step.primitive.reset(made);
    for (const Argument& argument : call.arguments) {
      const Desc desc =
          argument.own ? *argument.own : call.descriptor.query_md(dnnl::query::exec_arg_md, argument.argument);
      const std::size_t operand = tensors[argument.tensor];
      state->bound.push_back({dnnl::memory(desc, engine(), state->buffers.at(operand, 0)), operand});
      step.arguments.push_back({argument.argument, state->bound.back().memory.get()});
    }
    state->scratchpads.emplace_back(call.descriptor.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD), engine());
    step.arguments.push_back({DNNL_ARG_SCRATCHPAD, state->scratchpads.back().get()});
    state->steps.push_back(std::move(step));
  }
  std::vector<Bound> walked;
  for (const auto& bound : state->bound)
    if (state->buffers.is_walked(bound.operand)) walked.push_back(bound);
  // The C calls: those of C++ build a map and a vector of the arguments each time.
  return {
      .call =
          [state, walked](std::size_t copy) {
            for (const auto& bound : walked)
              dnnl_memory_set_data_handle(bound.memory.get(), state->buffers.at(bound.operand, copy));
            for (const auto& step : state->steps)
              if (dnnl_primitive_execute(step.primitive.get(), stream().get(), static_cast<int>(step.arguments.size()),
                                         step.arguments.data()) != dnnl_success)
                throw Skipped("dnnl_primitive_execute failed");
          },
      .copies = state->buffers.copies()};
}

}  // namespace

dnnl::primitive_desc_base cloned(const dnnl::primitive_desc_base& descriptor) {
  dnnl_primitive_desc_t copy = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_desc_clone(&copy, descriptor.get()), "dnnl_primitive_desc_clone failed");
  dnnl::primitive_desc_base result;
  result.reset(copy);
  return result;
}

void Offers::add(const std::string& name, const std::vector<Call>& calls) {
  std::string plan = name;
  bool weights = false;
  for (const char* key : {"src", "wei", "dst"})
    for (const Call& call : calls)
      for (const Argument& argument : call.arguments)
        if (argument.key == std::string_view(key))
          plan +=
              layout_key(key, call.descriptor.query_md(dnnl::query::exec_arg_md, argument.argument), argument.plain);
  for (const Call& call : calls)
    for (const Argument& argument : call.arguments) weights = weights || argument.weights;
  plan = "onednn/" + spelled(plan) + ",threads=" + std::to_string(threads_);
  if (!names_.insert(plan).second) return;
  add_row(plan, signature_, work_, weights,
          [calls, threads = threads_](Cache cache) { return prepare(calls, threads, cache); });
}

void Offers::add_each(dnnl::primitive_desc descriptor, const std::vector<Argument>& arguments,
                      const std::string& before, bool references, const std::string& behind) {
  if (!descriptor) return;
  do {
    const std::string name = descriptor.impl_info_str();
    if (references || name.compare(0, 3, "ref") != 0) add(before + name + behind, {{cloned(descriptor), arguments}});
  } while (descriptor.next_impl());
}

void add_layer(const char* signature, const Work& work, const std::function<void(Offers&)>& offer) {
  const dnnl_version_t* const v = dnnl_version();
  name_library("onednn", std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch));
  for (const int threads : options().threads) {
    omp_set_num_threads(threads);
    Offers offers(signature, work, threads);
    std::string reason = "oneDNN has no optimised implementation";
    try {
      offer(offers);
    } catch (const dnnl::error& error) {  // a problem that oneDNN has no words for
      reason = error.what();
    }
    if (offers.empty() && threads == options().threads.front()) add_refusal("onednn/none", signature, reason);
  }
}
