// SPDX-License-Identifier: Apache-2.0
#include "match.hpp"

#include "conv_gradients.hpp"
#include "engine_words.hpp"
#include "phases.hpp"
#include "record_tree.hpp"
#include <benanza/base/detail/node_parts.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace benanza::gap {

namespace {

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Where a list of names or the text around a name may begin: `a + b`, `fused a`, `PWN(a)`, `{ForeignNode[a`.
bool separates(char c) { return std::string_view(" +,;|()[]{}").find(c) != std::string_view::npos; }

std::int64_t elements(const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  for (const auto dim : dims) count *= dim;
  return count;
}

class Matcher {
 public:
  Matcher(const ModelLayers& model, const EngineProfile& profile, const std::vector<bool>& counted,
          const std::vector<Phase>& phases)
      : single_(model.single),
        fused_(model.fused),
        records_(profile.records),
        counted_(counted),
        phases_(phases),
        taken_(single_.layers.size(), false),
        group_of_(single_.layers.size(), 0),
        result_(records_.size()) {
    for (std::size_t i = 0; i < single_.layers.size(); ++i) {
      for (const auto& node : single_.layers[i].nodes) by_name_.emplace(node, i);
      kinds_.push_back(kind(single_.layers[i].layer));
    }
    for (std::size_t i = 0; i < single_.layers.size(); ++i)  // a node's name takes precedence over a tensor's
      for (const auto output : single_.layers[i].outputs) by_name_.emplace(single_.tensors[output].name, i);
    for (const auto& [name, layer] : by_name_) longest_ = std::max(longest_, name.size());
    find_passes();
    for (std::size_t g = 0; g < fused_.layers.size(); ++g) {
      for (const auto member : fused_.layers[g].members) group_of_[member] = g;
      if (fused_.layers[g].members.size() > 1) groups_.push_back(g);
    }
    std::sort(groups_.begin(), groups_.end(),
              [&](auto a, auto b) { return fused_.layers[a].members.front() < fused_.layers[b].members.front(); });
    for (const auto& record : records_) words_.push_back(kinds_of(record));
    record_phases_ = phases_of(records_);
    launches_.assign(records_.size(), false);
    for (const auto& record : records_)
      if (record.activity == Activity::kernel && record.parent && *record.parent < records_.size())
        launches_[*record.parent] = true;
    worker_above_ = nearest_above(records_, [this](std::size_t r) { return !words_[r].empty() && may_serve(r); });
    order_.resize(records_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto is_placed = [](const ProfileRecord& record) { return record.start.has_value(); };
    if (std::all_of(records_.begin(), records_.end(), is_placed))
      std::stable_sort(order_.begin(), order_.end(),
                       [&](auto a, auto b) { return *records_[a].start < *records_[b].start; });
    for (const auto r : order_)
      if (may_serve(r))
        for (const auto& name : records_[r].nodes.empty() ? std::vector{records_[r].name} : records_[r].nodes)
          if (const auto found = passes_.find(name); found != passes_.end())
            found->second.records.emplace(r, found->second.records.size());
  }

  std::vector<RecordMatch> run() {
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (may_serve(r)) by_nodes(r);
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (may_serve(r) && open(r)) by_exact_name(r);
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (may_serve(r) && open(r)) by_part_of_name(r);
    by_parent();
    absorb();                                 // an engine that names its nodes names a fused call after one of them
    for (const bool attends : {true, false})  // several products have the shapes of attention
      for (const auto r : order_)
        if (is_candidate(r) && says(r, op::Attention::kind) == attends) by_shape(r);
    by_order();
    by_parent();
    by_kernel_class();
    by_parent();
    absorb();
    for (auto& found : result_) {
      std::sort(found.layers.begin(), found.layers.end());
      found.layers.erase(std::unique(found.layers.begin(), found.layers.end()), found.layers.end());
    }
    return std::move(result_);
  }

 private:
  /// Assigns unmatched layers around a record's layers to that record.
  void absorb() {
    for (std::size_t r = 0; r < records_.size(); ++r) take_skipped_add(r);
    absorb_groups();
    absorb_chains();
  }
  [[nodiscard]] bool open(std::size_t r) const { return result_[r].by == MatchedBy::nothing; }
  /// Layers and kernels serve something in the model; conversions, copies, waits and calls do not.
  [[nodiscard]] bool may_serve(std::size_t r) const {
    const ProfileRecord& record = records_[r];
    const bool works = record.activity == Activity::layer || record.activity == Activity::kernel || launches_[r];
    return works && !is_conversion(record) && !is_copy(record);
  }
  /// A record that is nested in a record of the same operator (the library's operator below the framework's) is a part
  /// of that record.
  [[nodiscard]] bool is_outermost(std::size_t r) const {
    std::size_t steps = 0;  // a cycle has no end
    for (auto above = worker_above_[r]; above != no_record && steps < records_.size(); ++steps) {
      if (std::any_of(words_[r].begin(), words_[r].end(), [&](auto kind) { return says(above, kind); })) return false;
      above = worker_above_[above];
    }
    return true;
  }
  [[nodiscard]] bool is_candidate(std::size_t r) const {
    return open(r) && may_serve(r) && (counted_[r] || records_[r].activity == Activity::layer) && is_outermost(r);
  }
  [[nodiscard]] bool says(std::size_t r, std::string_view kind) const {
    return std::find(words_[r].begin(), words_[r].end(), kind) != words_[r].end();
  }
  /// Whether the layer is not served yet and belongs to the record's phase.
  [[nodiscard]] bool is_free_for(std::size_t r, std::size_t layer) const {
    return !taken_[layer] && (phases_.empty() || may_be(record_phases_[r], phases_[layer]));
  }
  void claim(std::size_t r, MatchedBy by, std::size_t layer) {
    result_[r].by = by;
    result_[r].layers.push_back(layer);
    taken_[layer] = true;
  }

  /// Passes of a loop that stand in its place: the layers of one node, and the records that name it, by time.
  struct Passes {
    std::vector<std::size_t> layers{};
    std::size_t runs = 0;  ///< of these layers
    std::map<std::size_t, std::size_t> records{};

    /// The layers that a record serves: that of its pass if there is a record for each pass, otherwise all of them.
    [[nodiscard]] std::vector<std::size_t> served_by(std::size_t r, const LayerGraph& graph) const {
      const auto found = records.find(r);
      if (found == records.end() || records.size() != runs) return layers;
      std::size_t left = found->second;
      for (const std::size_t layer : layers) {
        const auto own = static_cast<std::size_t>(graph.layers[layer].repeat);
        if (left < own) return {layer};
        left -= own;
      }
      return layers;
    }
  };
  void find_passes() {
    const auto& layers = single_.layers;
    for (const Occurrence& at : layers)
      for (const auto& node : at.nodes)
        if (const auto name = without_pass(node); name != node) passes_.try_emplace(std::string(name));
    for (std::size_t i = 0; i < layers.size() && !passes_.empty(); ++i)
      for (const auto& node : layers[i].nodes)
        if (const auto found = passes_.find(without_pass(node)); found != passes_.end()) {
          found->second.layers.push_back(i);
          found->second.runs += static_cast<std::size_t>(layers[i].repeat);
        }
  }

  /// Claims the layers of that name and the layers that the importer has split off from them.
  void claim_named(std::size_t r, MatchedBy by, const std::string& name) {
    const auto passes = passes_.find(name);
    const auto found = by_name_.find(name);
    if (passes == passes_.end()) {
      if (found != by_name_.end()) claim_node(r, by, name, found->second);
      return;
    }
    for (const std::size_t layer : passes->second.served_by(r, single_))
      claim_node(r, by, single_.layers[layer].nodes.front(), layer);
  }
  void claim_node(std::size_t r, MatchedBy by, const std::string& name, std::size_t layer) {
    const auto claim_part = [&](const std::string& part) {
      if (const auto split = by_name_.find(name + part); split != by_name_.end()) claim(r, by, split->second);
    };
    if (kinds_[layer] == op::Attention::kind)
      for (const auto part : attention_parts) claim_part(std::string(part));
    for (std::size_t i = 1; i < most_parts; ++i) claim_part(numbered_part(i));
    claim(r, by, layer);
  }

  void by_nodes(std::size_t r) {
    for (const auto& node : records_[r].nodes) claim_named(r, MatchedBy::nodes, node);
  }
  void by_exact_name(std::size_t r) { claim_named(r, MatchedBy::name, records_[r].name); }

  /// Whether the operator that the engine names may be this node, or one of those that fuse with it.
  [[nodiscard]] bool fits(std::size_t r, std::size_t layer) const {
    if (words_[r].empty() || says(r, kinds_[layer])) return true;
    const Occurrence& group = fused_.layers[group_of_[layer]];
    if (says(r, kind(group.layer))) return true;
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](std::size_t member) { return says(r, kinds_[member]); });
  }

  /// The longest known name that begins at `begin` and ends where a name can end: its end and its layer, or empty.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> longest_name(std::string_view text,
                                                                                std::size_t begin) const {
    for (std::size_t end = std::min(text.size(), begin + longest_); end > begin; --end) {
      if (end < text.size() && is_name_char(text[end]) && is_name_char(text[end - 1])) continue;
      const std::string_view rest = text.substr(end);
      const bool counter =
          rest.size() > 1 && rest[0] == '_' && rest.substr(1).find_first_not_of("0123456789") == std::string_view::npos;
      if (counter) continue;  // `add_7` is not `add`
      const auto found = by_name_.find(text.substr(begin, end - begin));
      if (found != by_name_.end()) return std::pair(end, found->second);
    }
    return std::nullopt;
  }

  void by_part_of_name(std::size_t r) {
    const std::string_view text = records_[r].name;
    constexpr std::size_t most = 100'000;  // names of whole subgraphs list their nodes
    std::vector<std::size_t> found;
    std::optional<std::size_t> from;  // `a...b`: all from a to b
    for (std::size_t at = 0; at < std::min(text.size(), most);) {
      const bool begins = at == 0 || separates(text[at - 1]) || text[at - 1] == '.';
      const auto name = begins && !separates(text[at]) ? longest_name(text.substr(0, most), at) : std::nullopt;
      if (!name) {
        ++at;
        continue;
      }
      const std::size_t layer = name->second;
      if (from)
        for (std::size_t i = std::min(*from, layer); i <= std::max(*from, layer); ++i) found.push_back(i);
      from = text.substr(name->first).starts_with("...") ? std::optional(layer) : std::nullopt;
      found.push_back(layer);
      at = std::max(name->first, at + 1);
    }
    const bool any_fits = std::any_of(found.begin(), found.end(), [&](std::size_t layer) { return fits(r, layer); });
    if (!any_fits) return;
    for (const auto layer : found) claim(r, MatchedBy::part_of_name, layer);
  }

  void by_parent() {
    const std::vector<std::size_t> above = nearest_above(records_, [this](std::size_t r) { return !open(r); });
    for (std::size_t r = 0; r < records_.size(); ++r) {
      if (!open(r) || records_[r].activity == Activity::wait || records_[r].activity == Activity::call) continue;
      if (above[r] == no_record) continue;
      for (const auto layer : std::vector(result_[above[r]].layers)) claim(r, MatchedBy::parent, layer);
    }
  }

  [[nodiscard]] std::int64_t elements_made(const Occurrence& at) const {
    if (at.outputs.size() > 1 && is_product(at.layer))  // the outputs of several nodes side by side
      return operands(at.layer).outputs[0].elements();
    return at.outputs.empty() ? 0 : elements(single_.tensors[at.outputs[0]].dims);
  }
  /// Compares the second operand: the weight distinguishes convolutions of equal output size.
  [[nodiscard]] bool same_second_input(const ProfileRecord& record, const Occurrence& at) const {
    if (record.inputs.size() < 2 || at.inputs.size() < 2 || !at.inputs[1]) return true;
    const LayerTensor& weight = single_.tensors[*at.inputs[1]];
    const bool counts = weight.constant || (!phases_.empty() && is_product(at.layer));  // not constant in training
    return !counts || weight.dims.size() < 2 || elements(weight.dims) == elements(record.inputs[1].dims);
  }
  [[nodiscard]] static bool has_dims(const std::vector<ProfiledTensor>& tensors) {
    return !tensors.empty() && !tensors[0].dims.empty();
  }
  [[nodiscard]] bool has_shape(std::size_t r) const {
    return has_dims(records_[r].outputs) || has_dims(records_[r].inputs);
  }
  /// Whether the shapes fit the layer that takes the inputs and the layer that makes the outputs: one layer, or the
  /// first and the last layer of a group.
  [[nodiscard]] bool same_shape(std::size_t r, const Occurrence& takes, const Occurrence& makes) const {
    const ProfileRecord& record = records_[r];
    if (has_dims(record.outputs)) {
      if (elements_made(makes) != elements(record.outputs[0].dims)) return false;
    } else {
      if (takes.inputs.empty() || !takes.inputs[0]) return false;
      if (elements(single_.tensors[*takes.inputs[0]].dims) != elements(record.inputs[0].dims)) return false;
    }
    return same_second_input(record, takes);
  }

  bool by_gradients(std::size_t r) {
    if (!says(r, "ConvGradient")) return false;
    const auto layers = conv_gradients(single_, records_[r].inputs, [&](std::size_t i) { return is_free_for(r, i); });
    for (const auto layer : layers) claim(r, MatchedBy::shape, layer);
    return !layers.empty();
  }

  void by_shape(std::size_t r) {
    if (!has_shape(r) || words_[r].empty() || by_gradients(r)) return;
    const auto is_free = [&](std::size_t member) { return is_free_for(r, member); };
    for (const auto g : groups_) {  // several layers of the model may be one call of the engine
      const Occurrence& group = fused_.layers[g];
      if (!says(r, kind(group.layer))) continue;
      // A layer followed by others counts as that layer; the rest, if no record serves it, is absorbed later.
      const auto is_of_kind = [&](std::size_t member) { return kinds_[member] == kind(group.layer); };
      if (std::count_if(group.members.begin(), group.members.end(), is_of_kind) == 1) continue;
      const Occurrence& last = single_.layers[group.members.back()];
      if (!same_shape(r, single_.layers[group.members.front()], group.outputs.size() > 1 ? group : last)) continue;
      if (!std::all_of(group.members.begin(), group.members.end(), is_free)) continue;
      for (const auto member : group.members) claim(r, MatchedBy::shape, member);
      return;
    }
    for (std::size_t i = 0; i < single_.layers.size(); ++i)
      if (is_free(i) && says(r, kinds_[i]) && same_shape(r, single_.layers[i], single_.layers[i])) {
        claim(r, MatchedBy::shape, i);
        return;
      }
  }

  using Bucket = std::vector<std::size_t>;
  /// Open records without shapes, grouped by what their words say and by phase.
  [[nodiscard]] std::vector<Bucket> open_records() const {
    std::map<std::pair<std::vector<std::string_view>, std::optional<Phase>>, Bucket> buckets;
    for (const auto r : order_)
      if (is_candidate(r) && !has_shape(r) && !words_[r].empty()) buckets[{words_[r], record_phases_[r]}].push_back(r);
    std::vector<Bucket> result;
    for (auto& [key, records] : buckets) result.push_back(std::move(records));
    return result;
  }
  /// The layers that a record may be, by its words and its phase.
  [[nodiscard]] Bucket open_layers(std::size_t r) const {
    Bucket layers;
    for (std::size_t i = 0; i < single_.layers.size(); ++i)
      if (is_free_for(r, i) && says(r, kinds_[i])) layers.push_back(i);
    return layers;
  }

  /// The groups that a record may be as a whole, such as attention, whose members are products and a softmax.
  [[nodiscard]] std::vector<Bucket> open_groups(std::size_t r) const {
    std::vector<Bucket> groups;
    for (const auto g : groups_) {
      const Occurrence& group = fused_.layers[g];
      const auto kind_of_group = kind(group.layer);
      const bool apart =
          says(r, kind_of_group) && std::all_of(group.members.begin(), group.members.end(), [&](std::size_t member) {
            return kinds_[member] != kind_of_group && is_free_for(r, member);
          });
      if (apart) groups.emplace_back(group.members.begin(), group.members.end());
    }
    return groups;
  }

  void by_order() {
    for (const Bucket& records : open_records()) {
      std::vector<Bucket> places = open_groups(records.front());
      for (const auto layer : open_layers(records.front())) places.push_back({layer});
      if (places.size() != records.size()) continue;
      std::sort(places.begin(), places.end());
      for (std::size_t i = 0; i < places.size(); ++i)
        for (const auto layer : places[i]) claim(records[i], MatchedBy::order, layer);
    }
  }

  /// If the engine names nodes, a record without a name shows too little to compare several groups as one.
  void by_kernel_class() {
    const bool names = std::any_of(result_.begin(), result_.end(), [](const RecordMatch& found) {
      return found.by == MatchedBy::nodes || found.by == MatchedBy::name || found.by == MatchedBy::part_of_name;
    });
    for (const Bucket& records : open_records()) {
      Bucket layers = open_layers(records.front());
      for (const Bucket& group : open_groups(records.front())) layers.insert(layers.end(), group.begin(), group.end());
      const bool joins = std::any_of(layers.begin(), layers.end(),
                                     [&](std::size_t layer) { return group_of_[layer] != group_of_[layers.front()]; });
      if (names && joins) continue;
      for (const auto record : records)
        for (const auto layer : layers) claim(record, MatchedBy::kernel_class, layer);
    }
  }

  /// A skip-layer-norm includes the sum before it.
  void take_skipped_add(std::size_t r) {
    if (records_[r].op.find("Skip") == std::string::npos || open(r)) return;
    for (const auto layer : std::vector(result_[r].layers)) {
      const auto& inputs = single_.layers[layer].inputs;
      const auto before = inputs.empty() ? std::nullopt : detail::only_producer(single_, inputs[0]);
      if (before && !taken_[*before] && kinds_[*before] == "Binary") claim(r, result_[r].by, *before);
    }
  }

  /// Records by the layers that they serve, in the model's order.
  [[nodiscard]] std::map<std::size_t, std::size_t> server_of_layers() const {
    std::map<std::size_t, std::size_t> servers;
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (counted_[r] && may_serve(r))
        for (const auto layer : result_[r].layers) servers.emplace(layer, r);
    return servers;
  }

  /// A layer that no record names belongs to a record that serves its group: the one whose operator it is, otherwise
  /// the nearest before it, otherwise the first after it.
  void absorb_groups() {
    const auto servers = server_of_layers();
    for (const auto& group : fused_.layers) {
      if (group.members.size() < 2) continue;
      std::vector<std::pair<std::size_t, std::size_t>> serving;  // member, record
      for (const auto member : group.members)
        if (const auto found = servers.find(member); found != servers.end()) serving.emplace_back(*found);
      if (serving.empty()) continue;
      for (const auto member : group.members) {
        if (taken_[member]) continue;
        auto best = serving.front().second;
        for (const auto& [served, record] : serving)
          if (served < member) best = record;
        for (const auto& [served, record] : serving)
          if (says(record, kinds_[member]) && !says(record, kinds_[served])) best = record;
        if (is_free_for(best, member)) claim(best, result_[best].by, member);
      }
    }
  }

  [[nodiscard]] static bool folds_away(std::string_view kind) {
    return kind == "Unary" || kind == "Binary" || kind == "Nary" || kind == "BatchNorm";
  }

  /// Element-wise layers with one consumer or producer that a record serves: engines fold them into it.
  void absorb_chains() {
    auto servers = server_of_layers();
    const auto take = [&](std::size_t layer, std::optional<std::size_t> neighbor) {
      const auto found = neighbor ? servers.find(*neighbor) : servers.end();
      if (found == servers.end() || result_[found->second].by == MatchedBy::kernel_class) return false;
      if (!is_free_for(found->second, layer)) return false;
      claim(found->second, result_[found->second].by, layer);
      servers.emplace(layer, found->second);
      return true;
    };
    for (std::size_t i = 0; i < single_.layers.size(); ++i) {
      if (taken_[i] || !folds_away(kinds_[i])) continue;
      for (const auto& input : single_.layers[i].inputs) {
        const auto producer = detail::only_producer(single_, input);
        if (producer && detail::only_consumer(single_, *input) && take(i, producer)) break;
      }
    }
    for (std::size_t i = single_.layers.size(); i-- > 0;) {
      if (taken_[i] || !folds_away(kinds_[i]) || single_.layers[i].outputs.size() != 1) continue;
      take(i, detail::only_consumer(single_, single_.layers[i].outputs[0]));
    }
  }

  const LayerGraph& single_;
  const LayerGraph& fused_;
  const std::vector<ProfileRecord>& records_;
  const std::vector<bool>& counted_;
  std::map<std::string, std::size_t, std::less<>> by_name_{};
  std::size_t longest_ = 0;  ///< characters of the longest of these names
  std::map<std::string, Passes, std::less<>> passes_{};
  std::vector<std::string_view> kinds_{};               // one per layer
  std::vector<std::vector<std::string_view>> words_{};  // one list per record
  std::vector<bool> launches_{};                        // by record: a host's call serves what its kernel serves
  std::vector<std::size_t> worker_above_{};             // by record: the nearest one above it that may serve a layer
  std::vector<std::size_t> order_{};                    // records by start, if all have one
  const std::vector<Phase>& phases_;                    // one per layer; empty for inference
  std::vector<std::optional<Phase>> record_phases_{};
  std::vector<bool> taken_;
  std::vector<std::size_t> group_of_;
  std::vector<std::size_t> groups_{};  // fused layers with several members, in the model's order
  std::vector<RecordMatch> result_;
};

}  // namespace

std::vector<RecordMatch> match(const ModelLayers& model, const EngineProfile& profile, const std::vector<bool>& counted,
                               const std::vector<Phase>& phases) {
  return Matcher(model, profile, counted, phases).run();
}

}  // namespace benanza::gap
