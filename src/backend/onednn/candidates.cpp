// SPDX-License-Identifier: Apache-2.0
#include "candidates.hpp"

#include "plan/tolerance.hpp"

#include <algorithm>
#include <cctype>

namespace benanza::onednn {
namespace {

/// Keeps only the characters allowed in names of algorithms: `gemm:jit+post` becomes `gemm:jit_post`.
std::string in_charset(std::string text) {
  for (auto& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("_.,=:-").find(c) == std::string_view::npos)
      c = '_';
  return text;
}

/// `,src=aBcd8b`, or an empty string for a plain operand.
std::string layout_key(const char* key, const std::vector<std::optional<OperandLayout>>& layouts, std::size_t i) {
  if (i >= layouts.size() || !layouts[i]) return {};
  const std::string name = layout_name(layouts[i]->packed, layouts[i]->plain);
  return name == "plain" ? "" : std::string(",") + key + "=" + name;
}

}  // namespace

Candidates::Candidates(std::shared_ptr<const Library> library, const Layer& layer, int threads,
                       const Parameters& numbers)
    : library_(std::move(library)),
      operands_(benanza::operands(layer)),
      threads_(threads),
      numbers_(numbers),
      reason_("oneDNN " + Library::version() + " has no optimised implementation of this " + std::string(kind(layer))) {
  if (type(layer) != DataType::f32)
    reason_ += " in " + std::string(name(type(layer))) + " for " +
               (Library::isa().empty() ? "its instruction set" : Library::isa());
}

double Candidates::tolerance() const {
  const auto has = [&](DataType type) {
    const auto is = [&](const Operand& operand) { return operand.type == type; };
    return std::any_of(operands_.inputs.begin(), operands_.inputs.end(), is) ||
           std::any_of(operands_.outputs.begin(), operands_.outputs.end(), is);
  };
  return benanza::tolerance(has(DataType::bf16) ? DataType::bf16 : has(DataType::f16) ? DataType::f16 : DataType::f32);
}

void Candidates::add(Draft draft) {
  const bool has_weights = operands_.inputs.size() > 1 && operands_.inputs[1].constant;
  std::string name = draft.algorithm + layout_key("src", draft.inputs, 0);
  if (has_weights) name += layout_key("wei", draft.inputs, 1);  // any other second operand has the layout of the first
  name = in_charset(name + layout_key("dst", draft.outputs, 0) + ",threads=" + std::to_string(threads_));
  if (!names_.insert(name).second) return;
  PlanDraft plan{.algorithm = name, .threads = threads_};
  plan.build = [=, library = library_, operands = operands_, threads = threads_,
                draft = std::move(draft)]() mutable -> std::unique_ptr<Plan> {
    Library::use_threads(threads);  // the thread count of this plan, whatever was built in between
    return std::make_unique<PrimitivePlan>(library, std::move(draft), name, operands, threads);
  };
  drafts_.push_back(std::move(plan));
}

std::variant<PlanDrafts, Unsupported> Candidates::result() && {
  if (drafts_.empty()) return Unsupported{reason_};
  drafts_.front().advised = true;  // the first implementation, in the layouts that it chose
  return std::move(drafts_);
}

dnnl::primitive_attr common_attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_fpmath_mode(dnnl::fpmath_mode::strict);  // whatever the environment says
  return attr;
}

bool is_reference(std::string_view implementation) { return implementation.starts_with("ref"); }

}  // namespace benanza::onednn
