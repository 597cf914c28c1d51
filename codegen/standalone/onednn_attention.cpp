// Attention as calls of oneDNN: scores = q k' * scale + mask, softmax in place, y = scores v. What is added to the
// scores is an epilogue of the product, or a call of its own. Query heads that share keys and values are a dimension
// over which these broadcast, or more rows of one product.
#include "onednn.hpp"

#include <cmath>
#include <limits>

namespace {

/// Batch, heads of keys, query heads of each, rows, columns, as far as they are not folded; strides in elements.
struct Operand {
  Sizes dims, strides;
};

struct Attention {
  const char* signature;
  Work work;
  Type type;
  Operand q, k, v, y;  // k has the depth as its rows and the keys as its columns
  Sizes scores;
  Sizes mask{};                   // added to the scores; empty: none
  Sizes bounds{};                 // the same, of what hides keys; empty: every query sees all
  std::int64_t from = 0, to = 0;  // with bounds, query i sees the keys from i + from on, up to before i + to
};

/// -inf where a query does not see a key.
std::shared_ptr<const std::vector<float>> hidden(const Attention& layer) {
  const std::int64_t queries = layer.bounds[layer.bounds.size() - 2], keys = layer.bounds[layer.bounds.size() - 1];
  std::vector<float> values;
  for (std::int64_t query = 0; query < queries; ++query)
    for (std::int64_t key = 0; key < keys; ++key)
      values.push_back(key < query + layer.from || key >= query + layer.to ? -std::numeric_limits<float>::infinity()
                                                                           : 0.0F);
  return std::make_shared<const std::vector<float>>(std::move(values));
}

void attention(const Attention& layer, Offers& offers) {
  const auto described = [&](const Operand& operand) {
    return Desc(dims(operand.dims), layer.type, dims(operand.strides));
  };
  const auto is_reference = [](const std::string& name) { return name.compare(0, 3, "ref") == 0; };
  const auto depth = static_cast<float>(layer.k.dims[layer.k.dims.size() - 2]);
  const Dims sizes = dims(layer.scores);
  const Desc scores = row_major(sizes, layer.type);
  const dnnl::softmax_forward::primitive_desc softmax(engine(), dnnl::prop_kind::forward_inference,
                                                      dnnl::algorithm::softmax_accurate, scores, scores,
                                                      static_cast<int>(sizes.size()) - 1, attributes(), true);
  const dnnl::matmul::primitive_desc second(engine(), scores, described(layer.v), described(layer.y), attributes(),
                                            true);
  if (!softmax || !second || is_reference(softmax.impl_info_str()) || is_reference(second.impl_info_str())) return;

  struct Added {
    Desc desc{};
    Argument argument{};
  };
  std::vector<Added> added;
  if (!layer.mask.empty()) added.push_back({row_major(dims(layer.mask), layer.type), {.tensor = "mask"}});
  if (!layer.bounds.empty())
    added.push_back({row_major(dims(layer.bounds), layer.type), {.tensor = "bounds", .values = hidden(layer)}});
  for (const bool fused : {true, false}) {
    if (!fused && added.empty()) continue;
    std::vector<Argument> arguments{{.argument = DNNL_ARG_SRC, .tensor = "q"},
                                    {.argument = DNNL_ARG_WEIGHTS, .tensor = "k"},
                                    {.argument = DNNL_ARG_DST, .tensor = "scores"}};
    dnnl::post_ops post;
    post.append_eltwise(dnnl::algorithm::eltwise_linear, 1 / std::sqrt(depth), 0);
    std::vector<Call> additions;
    for (auto [desc, argument] : added) {
      if (fused) {
        argument.argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post.len()) | DNNL_ARG_SRC_1;
        post.append_binary(dnnl::algorithm::binary_add, desc);
        arguments.push_back(argument);
        continue;
      }
      const dnnl::binary::primitive_desc sum(engine(), dnnl::algorithm::binary_add, scores, desc, scores, attributes(),
                                             true);
      if (!sum || is_reference(sum.impl_info_str())) return;
      argument.argument = DNNL_ARG_SRC_1;
      additions.push_back({sum,
                           {{.argument = DNNL_ARG_SRC_0, .tensor = "scores"},
                            argument,
                            {.argument = DNNL_ARG_DST, .tensor = "scores"}}});
    }
    dnnl::matmul::primitive_desc first(engine(), described(layer.q), described(layer.k), scores, attributes(post),
                                       true);
    if (!first) continue;
    do {
      const std::string name = first.impl_info_str();
      if (is_reference(name)) continue;
      std::vector<Call> calls{{cloned(first), arguments}};
      calls.insert(calls.end(), additions.begin(), additions.end());
      calls.push_back(
          {softmax, {{.argument = DNNL_ARG_SRC, .tensor = "scores"}, {.argument = DNNL_ARG_DST, .tensor = "scores"}}});
      calls.push_back({second,
                       {{.argument = DNNL_ARG_SRC, .tensor = "scores"},
                        {.argument = DNNL_ARG_WEIGHTS, .tensor = "v"},
                        {.argument = DNNL_ARG_DST, .tensor = "y"}}});
      offers.add(name + (fused ? "" : ":binary") + ":softmax:" + second.impl_info_str(), calls);
    } while (first.next_impl());
  }
}

constexpr Attention layers[] = {
    // @rows@
};

}  // namespace

void add_onednn_attention() { add_rows(layers, attention); }
