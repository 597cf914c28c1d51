// SPDX-License-Identifier: Apache-2.0
// ONNX IR, Functions: https://github.com/onnx/onnx/blob/main/docs/IR.md#functions. The library's own inliner drops
// default values of attributes, and refuses a function that imports another version of an operator set.
#include "inline_functions.hpp"

#include "proto.hpp"
#include <benanza/error.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace benanza::importer {
namespace {

// A function may call another one twice, which calls another one twice, and so on, or hand on an attribute that it uses
// twice: inlining a small file could grow without bound. What inlining adds, in bytes of the file format: a constant,
// and a multiple of the file's structure.
constexpr std::size_t least_added = std::size_t{4} << 20;
constexpr std::size_t most_added = 200;

/// The start of the doc_string of a node with an own version, which follows. Nothing else can be there, since the
/// pre-scan drops all documentation.
constexpr std::string_view version_mark = "opset:";

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using ValueInfos = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;
using FunctionKey = std::tuple<std::string, std::string, std::string>;  ///< domain, name, overload

std::string short_domain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

FunctionKey function_key(const onnx::FunctionProto& function) {
  return {short_domain(function.domain()), function.name(), function.overload()};
}
FunctionKey function_key(const onnx::NodeProto& node) {
  return {short_domain(node.domain()), node.op_type(), node.overload()};
}

/// Refuses functions that call themselves.
class FunctionCalls {
 public:
  explicit FunctionCalls(onnx::ModelProto& model) {
    for (auto& function : *model.mutable_functions()) functions_[function_key(function)] = &function;
  }

  void check(NodeList& nodes) {
    for (auto& node : nodes) {
      if (const auto found = functions_.find(function_key(node)); found != functions_.end())
        check(found->first, *found->second);
      for_each_body(node, [&](onnx::GraphProto& body) { check(*body.mutable_node()); });
    }
  }

 private:
  void check(const FunctionKey& key, onnx::FunctionProto& function) {
    if (checked_.contains(key)) return;
    if (!open_.insert(key).second)
      throw InputError("function '" + std::get<0>(key) + "." + std::get<1>(key) + "' calls itself");
    if (open_.size() > 256) throw InputError("functions are nested more than 256 deep");
    check(*function.mutable_node());
    open_.erase(key);
    checked_.insert(key);
  }

  std::map<FunctionKey, onnx::FunctionProto*> functions_{};
  std::set<FunctionKey> checked_{}, open_{};
};

using VersionOfDomain = std::unordered_map<std::string, std::int64_t>;

VersionOfDomain imported_versions(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  VersionOfDomain versions;
  for (const auto& import : imports) versions[short_domain(import.domain())] = import.version();
  return versions;
}

class FunctionInliner {
 public:
  explicit FunctionInliner(onnx::ModelProto& model)
      : imported_(imported_versions(model.opset_import())), most_(least_added + most_added * model.ByteSizeLong()) {
    for (const auto& function : model.functions()) functions_[function_key(function)] = &function;
    note_names(*model.mutable_graph());
  }

  void expand(onnx::GraphProto& graph) { expand(*graph.mutable_node(), *graph.mutable_value_info()); }

 private:
  void note_names(onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) taken_.insert(input.name());
    for (const auto& initializer : graph.initializer()) taken_.insert(initializer.name());
    for (auto& node : *graph.mutable_node()) {
      taken_.insert(node.name());
      for (const auto& output : node.output()) taken_.insert(output);
      for_each_body(node, [this](onnx::GraphProto& body) { note_names(body); });
    }
  }

  void expand(NodeList& nodes, ValueInfos& infos) {
    NodeList before;
    before.Swap(&nodes);
    for (auto& node : before) {
      if (const auto found = functions_.find(function_key(node)); found != functions_.end()) {
        NodeList inlined = Call(*this, node, *found->second).nodes(infos);
        expand(inlined, infos);
        for (auto& each : inlined) *nodes.Add() = std::move(each);
      } else {
        for_each_body(node, [this](onnx::GraphProto& body) { expand(body); });
        *nodes.Add() = std::move(node);
      }
    }
  }

  /// Counts what is copied.
  template <class Message>
  const Message& added(const Message& message) {
    added_ += message.ByteSizeLong();
    if (added_ > most_) throw InputError("its functions grow to more than " + std::to_string(most_) + " bytes");
    return message;
  }

  std::string unique(const std::string& name) {
    std::string result = name;
    while (!taken_.insert(result).second) result = name + "_" + std::to_string(clashes_++);
    return result;
  }

  /// One call of a function. Each name of the function gets a new one, except for the names of its inputs and outputs,
  /// which become those of the call.
  class Call {
   public:
    Call(FunctionInliner& inliner, const onnx::NodeProto& call, const onnx::FunctionProto& function)
        : inliner_(inliner),
          call_(call),
          function_(function),
          versions_(imported_versions(function.opset_import())),
          suffix_("__" + std::to_string(++inliner.calls_)) {
      for (const auto& attribute : function.attribute_proto()) attributes_[attribute.name()] = &attribute;
      for (const auto& attribute : call.attribute()) attributes_[attribute.name()] = &attribute;
    }

    NodeList nodes(ValueInfos& infos) {
      if (call_.input_size() > function_.input_size() || call_.output_size() > function_.output_size())
        throw InputError("node '" + (call_.name().empty() ? call_.op_type() : call_.name()) +
                         "' has more inputs or outputs than function '" + function_.name() + "', which it calls");
      NodeList result;
      for (int i = 0; i < function_.input_size(); ++i)
        names_[function_.input(i)] = i < call_.input_size() ? call_.input(i) : std::string();
      std::vector<std::pair<std::string, std::string>> passed_on;
      for (int i = 0; i < call_.output_size(); ++i)
        if (!call_.output(i).empty() && !names_.try_emplace(function_.output(i), call_.output(i)).second)
          passed_on.emplace_back(function_.output(i), call_.output(i));
      for (const auto& info : function_.value_info()) {
        if (names_.contains(info.name())) continue;
        auto& added = *infos.Add();
        added = inliner_.added(info);
        rename(*added.mutable_name());
      }
      for (const auto& node : function_.node()) adapt(*result.Add() = inliner_.added(node));
      for (const auto& [from, to] : passed_on) {
        auto& copy = *result.Add();
        copy.set_op_type("Identity");
        copy.add_input(from);
        rename(*copy.mutable_input(0));
        copy.add_output(to);
      }
      return result;
    }

   private:
    void rename(std::string& name) {
      if (name.empty()) return;
      const auto [found, added] = names_.try_emplace(name);
      if (added) found->second = inliner_.unique(name + suffix_);
      name = found->second;
    }

    void adapt(onnx::NodeProto& node) {
      if (!node.name().empty()) node.set_name(inliner_.unique(node.name() + suffix_));
      for (auto& input : *node.mutable_input()) rename(input);
      for (auto& output : *node.mutable_output()) rename(output);
      const std::string domain = short_domain(node.domain());
      if (const auto own = versions_.find(domain); own != versions_.end()) {
        const auto imported = inliner_.imported_.find(domain);
        if (imported == inliner_.imported_.end() || imported->second != own->second) set_own_version(node, own->second);
      }
      bind_attributes(node);
      for_each_body(node, [this](onnx::GraphProto& body) { adapt(body); });
    }

    void adapt(onnx::GraphProto& body) {
      for (auto* list : {body.mutable_input(), body.mutable_output(), body.mutable_value_info()})
        for (auto& info : *list) rename(*info.mutable_name());
      for (auto& initializer : *body.mutable_initializer()) rename(*initializer.mutable_name());
      for (auto& sparse : *body.mutable_sparse_initializer()) rename(*sparse.mutable_values()->mutable_name());
      for (auto& node : *body.mutable_node()) adapt(node);
    }

    /// An attribute that refers to one of the function's is left out if neither the call nor the function has a value.
    void bind_attributes(onnx::NodeProto& node) {
      auto& attributes = *node.mutable_attribute();
      for (auto at = attributes.begin(); at != attributes.end();) {
        if (at->ref_attr_name().empty()) {
          ++at;
          continue;
        }
        const auto given = attributes_.find(at->ref_attr_name());
        if (given == attributes_.end()) {
          at = attributes.erase(at);
          continue;
        }
        const std::string name = at->name();
        *at = inliner_.added(*given->second);
        at->set_name(name);
        ++at;
      }
    }

    FunctionInliner& inliner_;
    const onnx::NodeProto& call_;
    const onnx::FunctionProto& function_;
    VersionOfDomain versions_;
    std::string suffix_;
    std::unordered_map<std::string_view, const onnx::AttributeProto*> attributes_{};
    std::unordered_map<std::string, std::string> names_{};
  };

  VersionOfDomain imported_;
  std::map<FunctionKey, const onnx::FunctionProto*> functions_{};
  std::unordered_set<std::string> taken_{};
  std::size_t most_, added_ = 0;  // bytes
  std::size_t calls_ = 0, clashes_ = 0;
};

}  // namespace

void check_functions(onnx::ModelProto& model) {
  if (model.functions_size() > 0) FunctionCalls(model).check(*model.mutable_graph()->mutable_node());
}

void inline_functions(onnx::ModelProto& model) {
  if (model.functions_size() == 0) return;
  FunctionInliner(model).expand(*model.mutable_graph());
  model.clear_functions();
}

std::optional<int> own_version(const onnx::NodeProto& node) {
  const std::string_view mark = node.doc_string();
  if (!mark.starts_with(version_mark)) return std::nullopt;
  int version = 0;
  std::from_chars(mark.data() + version_mark.size(), mark.data() + mark.size(), version);
  return version;
}

void set_own_version(onnx::NodeProto& node, std::int64_t version) {
  node.set_doc_string(std::string(version_mark) + std::to_string(version));
}

}  // namespace benanza::importer
