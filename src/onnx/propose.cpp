// SPDX-License-Identifier: Apache-2.0
#include "propose.hpp"

#include "declared_inputs.hpp"
#include "proto.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

namespace benanza::importer {
namespace {

// The most builds that a user would wait for. One takes milliseconds.
constexpr std::size_t most_trials = 160;
// No table of positions is that long.
constexpr std::int64_t unlimited = 1 << 16;

enum class Kind : std::uint8_t { image, channels, tokens, samples, other };

// The most common sizes first.
constexpr std::array<std::int64_t, 6> image_sizes{224, 640, 256, 320, 512, 299};
constexpr std::array<std::int64_t, 5> sample_sizes{16000, 512, 48000, 8000, 160000};
constexpr std::array<std::int64_t, 28> any_size{128, 64,  256, 512, 32,  16,  1024, 48,  96,   192, 384, 416, 448, 480,
                                                608, 736, 800, 960, 112, 160, 240,  227, 2048, 100, 8,   4,   2,   1};

/// Symbols that get the same size: the sides of an image are equal unless that does not fit.
struct Group {
  Kind kind = Kind::other;
  std::vector<std::size_t> members{};  ///< indices into the symbols
  std::vector<std::int64_t> candidates{};
};

bool contains(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != text.npos; });
}

Kind kind_of(const DeclaredInput& input, std::size_t axis) {
  const auto& dims = *input.dims;
  const Dim& dim = dims[axis];
  const std::size_t rank = dims.size();
  const auto type = element_type(input.proto->type());
  if (contains(dim.symbol, {"height", "width"})) return Kind::image;
  if (rank == 4 || rank == 5) {
    const bool channels_last = dims[rank - 1].size && *dims[rank - 1].size <= 4;
    if (axis == (channels_last ? rank - 1 : 1)) return Kind::channels;
    return axis == 0 ? Kind::other : Kind::image;
  }
  if (type && !is_float(*type)) return Kind::tokens;
  if (contains(dim.symbol, {"frame", "time", "token"})) return Kind::other;
  const bool one_channel = rank == 2 || (rank == 3 && dims[1].size == 1);
  return one_channel && axis + 1 == rank ? Kind::samples : Kind::other;
}

class Search {
 public:
  Search(const onnx::GraphProto& graph, const std::vector<std::string>& open, const std::vector<std::int64_t>& hints,
         const Try& attempt)
      : graph_(graph), open_(open), hints_(hints), attempt_(attempt), sizes_(open.size(), 1) {
    for (const auto& input : declared_inputs(graph)) add(input);
  }

  Proposal run() {
    for (const auto& group : groups_) set(sizes_, group, group.candidates.front());
    best_ = attempt(sizes_);
    improve();
    if (!settled()) {
      split();
      improve();
    }
    if (!best_.fits) return {.sizes = named(sizes_)};
    for (const auto& group : groups_)
      if (group.kind == Kind::tokens) lengthen(group);
    return {.sizes = named(sizes_), .fits = true, .certain = is_certain()};
  }

 private:
  using Assignment = std::vector<std::int64_t>;

  void add(const DeclaredInput& input) {
    std::optional<std::size_t> sides;  // the group of this image
    for (std::size_t axis = 0; input.dims && axis < input.dims->size(); ++axis) {
      const auto found = std::find(open_.begin(), open_.end(), (*input.dims)[axis].symbol);
      const auto member = static_cast<std::size_t>(found - open_.begin());
      const auto is_known = [&](const Group& g) {
        return std::find(g.members.begin(), g.members.end(), member) != g.members.end();
      };
      if (found == open_.end() || std::any_of(groups_.begin(), groups_.end(), is_known)) continue;
      const Kind kind = kind_of(input, axis);
      if (kind == Kind::image && sides) {
        groups_[*sides].members.push_back(member);
        continue;
      }
      if (kind == Kind::image) sides = groups_.size();
      groups_.push_back({.kind = kind, .members = {member}, .candidates = candidates(kind, input)});
    }
  }

  /// The most likely sizes first.
  [[nodiscard]] std::vector<std::int64_t> candidates(Kind kind, const DeclaredInput& input) const {
    std::vector<std::int64_t> result;
    if (kind == Kind::image) {
      result = hints_;
      // The size of the other side, or 320 for a line of text, which is about ten times as long as it is high. Images
      // that are classified are small.
      for (std::size_t i = 2; i < input.dims->size(); ++i)
        if (const auto size = (*input.dims)[i].size; size && *size > 4) result.push_back(*size < 100 ? 320 : *size);
      const bool classes = std::any_of(graph_.output().begin(), graph_.output().end(), [](const auto& output) {
        return output.type().tensor_type().shape().dim_size() == 2;
      });
      if (!classes) result.push_back(640);
      result.insert(result.end(), image_sizes.begin(), image_sizes.end());
    }
    if (kind == Kind::channels) result.push_back(3);
    if (kind == Kind::samples) result.insert(result.end(), sample_sizes.begin(), sample_sizes.end());
    result.insert(result.end(), any_size.begin(), any_size.end());
    return result;
  }

  static void set(Assignment& sizes, const Group& group, std::int64_t size) {
    for (const auto member : group.members) sizes[member] = size;
  }

  [[nodiscard]] Sizes named(const Assignment& sizes) const {
    Sizes result;
    for (std::size_t i = 0; i < open_.size(); ++i) result.emplace_back(open_[i], sizes[i]);
    return result;
  }

  Trial attempt(const Assignment& sizes) {
    ++trials_;
    return attempt_(named(sizes));
  }

  static auto rank(const Trial& trial) { return std::tuple(trial.fits, trial.nodes, trial.outputs); }
  [[nodiscard]] bool settled() const {
    return best_.fits && best_.outputs == static_cast<std::size_t>(graph_.output_size());
  }

  /// Gives each group in turn the size with which most of the model can be built.
  void improve() {
    for (bool better = true; better && !settled();) {
      better = false;
      for (const auto& group : groups_) {
        std::vector<std::int64_t> sizes = group.candidates;
        sizes.insert(sizes.end(), best_.sizes.begin(), best_.sizes.end());
        for (const auto size : sizes) {
          if (settled() || trials_ >= most_trials) return;
          if (size < 1 || size > unlimited) continue;
          Assignment next = sizes_;
          set(next, group, size);
          if (next == sizes_) continue;
          Trial trial = attempt(next);
          if (rank(trial) <= rank(best_)) continue;
          best_ = std::move(trial);
          sizes_ = std::move(next);
          better = true;
        }
      }
    }
  }

  /// Treats the sides of an image separately.
  void split() {
    std::vector<Group> single;
    for (const auto& group : groups_)
      for (const auto member : group.members)
        single.push_back({.kind = group.kind, .members = {member}, .candidates = group.candidates});
    groups_ = std::move(single);
  }

  [[nodiscard]] bool fits(const Group& group, std::int64_t size) {
    Assignment next = sizes_;
    set(next, group, size);
    return attempt(next).fits;
  }

  /// Makes a sequence of tokens as long as the table of positions allows.
  void lengthen(const Group& group) {
    std::int64_t fitting = sizes_[group.members.front()], above = unlimited;
    if (fits(group, above)) return;
    while (above - fitting > 1) {
      const std::int64_t middle = fitting + (above - fitting) / 2;
      (fits(group, middle) ? fitting : above) = middle;
    }
    set(sizes_, group, fitting);
  }

  [[nodiscard]] bool is_certain() {
    return std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) {
      const std::int64_t size = sizes_[group.members.front()];
      return !fits(group, size + 1) && !fits(group, 2 * size) && (size == 1 || !fits(group, size - 1));
    });
  }

  const onnx::GraphProto& graph_;
  const std::vector<std::string>& open_;
  const std::vector<std::int64_t>& hints_;
  const Try& attempt_;
  Assignment sizes_;
  std::vector<Group> groups_{};
  Trial best_{};
  std::size_t trials_ = 0;
};

}  // namespace

std::vector<std::int64_t> image_sizes_of(const onnx::ModelProto& model, const std::string& name) {
  std::vector<std::int64_t> result;
  const auto read = [&](std::string_view text) {
    for (const char *at = text.data(), *end = at + text.size(); at < end;) {
      std::int64_t size = 0;
      const auto [stop, error] = std::from_chars(at, end, size);
      at = std::max(stop, at + 1);
      if (error == std::errc{} && size >= 64 && size <= 4096 && size % 32 == 0) result.push_back(size);
    }
  };
  for (const auto& entry : model.metadata_props()) read(entry.value());  // the pre-scan keeps only image sizes
  read(name);
  return result;
}

Proposal propose_sizes(const onnx::GraphProto& graph, const std::vector<std::string>& open,
                       const std::vector<std::int64_t>& hints, const Try& attempt) {
  return Search(graph, open, hints, attempt).run();
}

std::int64_t likely_value(const std::string& name) {
  constexpr std::int64_t sampling_rate = 16000, length = 16;
  if (name == "sr" || contains(name, {"rate"})) return sampling_rate;
  if (contains(name, {"start"})) return 0;
  return contains(name, {"delta", "step"}) ? 1 : length;
}

}  // namespace benanza::importer
