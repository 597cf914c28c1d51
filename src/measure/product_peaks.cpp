// SPDX-License-Identifier: Apache-2.0
#include "product_peaks.hpp"

#include "tuning_session.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace benanza::measure {

std::set<DataType> product_types(std::span<const Wanted> wanted, bool device) {
  std::set<DataType> types;
  for (const auto& entry : wanted)
    if (is_product(entry.layer)) types.insert(type(entry.layer));
  if (device) types.insert({DataType::f16, DataType::bf16, DataType::tf32});
  types.erase(DataType::f32);
  return types;
}

std::vector<CeilingRow> product_peaks(sampling::Host& host, const std::set<DataType>& types, std::int64_t side,
                                      Backends backends, const MeasureOptions& options, int threads,
                                      double highest_clock_hz) {
  const auto is_known = [&](DataType type) {
    const CeilingQuantity quantity = CeilingQuantity::peak(type == DataType::u8 ? DataType::i8 : type);
    return options.ceilings && std::any_of(options.ceilings->begin(), options.ceilings->end(), [&](const auto& row) {
             return row.quantity == quantity &&
                    row.algorithm.find("/MatMul/" + std::string(name(type))) != std::string::npos;
           });
  };
  std::map<std::string, Layer> layers;
  std::vector<Wanted> products;
  for (const DataType type : types) {
    if (is_known(type)) continue;
    op::MatMul product{.type = type, .a = {side, side}, .b = {side, side}, .b_constant = true};
    if (is_8_bit(type)) product.y_type = DataType::i32;
    if (type == DataType::u8) product.b_type = DataType::i8;
    products.push_back({.layer = product});
    layers.emplace(LayerSignature(products.back().layer).text(), product);
  }
  if (products.empty()) return {};
  const Seconds longest{host.memory() != nullptr ? 3.0 : 1.0};  // a device's libraries have many plans
  const MeasureOptions short_options{
      .threads = options.threads,
      .caches = {CacheState::hot},
      .budget = std::min(longest, 0.1 * options.budget) * static_cast<double>(products.size()),
      .trying = options.trying,
      .crashing_plans = options.crashing_plans,
      .activity_check = false,
      .stop = options.stop};
  std::vector<CeilingRow> rows;
  for (const auto& row : run_tuning_session(host, products, backends, short_options, threads)) {
    if (!row.measured() || !row.times || row.contended || row.saves_multiplications) continue;
    const Seconds time = without_launch(row, row.times->p10);
    if (!(time.value > 0)) continue;
    const Layer& layer = layers.at(row.signature);
    const double at_highest =
        row.device && row.device->clock_hz ? std::max(1.0, highest_clock_hz / *row.device->clock_hz) : 1;
    rows.push_back({.quantity = CeilingQuantity::peak(arithmetic_type(layer)),
                    .algorithm = row.name(),
                    .threads = row.threads,
                    .value = cost(layer).flops.value / time.value * at_highest});
  }
  return rows;
}

}  // namespace benanza::measure
