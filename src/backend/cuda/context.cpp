// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include "check.hpp"
#include "plan/tolerance.hpp"

#include <algorithm>
#include <array>

namespace benanza::cuda {

namespace {

struct Row {
  DataType type;
  Element element;
};
constexpr std::array rows{Row{DataType::f32, Element::f32},       Row{DataType::f16, Element::f16},
                          Row{DataType::bf16, Element::bf16},     Row{DataType::f8e4m3, Element::f8e4m3},
                          Row{DataType::f8e5m2, Element::f8e5m2}, Row{DataType::i8, Element::i8},
                          Row{DataType::u8, Element::u8}};

class LaunchPlan final : public Plan {
 public:
  LaunchPlan(const Operands& operands, const std::string& algorithm, std::function<void(const Arguments&)> launch,
             double tolerance, std::size_t workspace_bytes)
      : Plan({.algorithm = algorithm + ",threads=1",
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs),
              .workspace_bytes = workspace_bytes,
              .tolerance = tolerance}),
        launch_(std::move(launch)) {}

 private:
  void do_execute(const Arguments& arguments) const override {
    launch_(arguments);
    check(cudaGetLastError(), "the launch of a kernel");
  }
  std::function<void(const Arguments&)> launch_;
};

}  // namespace

Plans one_plan(const Context&, const Operands& operands, const std::string& algorithm,
               std::function<void(const Arguments&)> launch, double tolerance, std::size_t workspace_bytes) {
  Plans plans;
  plans.push_back(std::make_unique<LaunchPlan>(operands, algorithm, std::move(launch), tolerance, workspace_bytes));
  return plans;
}

std::shared_ptr<const void> device_table(const Context& context, const void* data, std::size_t bytes) {
  void* const table = context.device->allocate(bytes);
  std::shared_ptr<const void> owned(
      table, [device = context.device](const void* d) { device->release(const_cast<void*>(d)); });
  context.device->upload(table, data, bytes);
  return owned;
}

std::optional<Element> element_of(DataType type) { return is_8_bit(type) ? std::nullopt : quantized_element_of(type); }

std::optional<Element> quantized_element_of(DataType type) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.type == stored_type(type); });
  return row == rows.end() ? std::nullopt : std::optional(row->element);
}

double tolerance_of(Element element) {
  return tolerance(std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.element == element; })->type);
}

std::optional<std::size_t> movable_bytes(DataType type) {
  const int size = bits(type) / 8;
  if (type == DataType::string || (size != 1 && size != 2 && size != 4 && size != 8 && size != 16)) return std::nullopt;
  return static_cast<std::size_t>(size);
}

Unsupported unsupported(std::string_view kind, DataType type) {
  return {"no " + std::string(name(type)) + " " + std::string(kind) + " in backend cuda"};
}

}  // namespace benanza::cuda
