// SPDX-License-Identifier: Apache-2.0
#include <benanza/base/detail/quantile.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/ceiling_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

namespace benanza {

namespace {

/// What a layer demands from a machine.
struct Demand {
  DataType type = DataType::f32;
  Flops flops{}, least_flops{};  ///< of the direct algorithm, and of any
  Bytes read{}, written{};
  [[nodiscard]] Flops flops_of(const Measurement& row) const { return row.saves_multiplications ? least_flops : flops; }
};

std::optional<Demand> demand_of(const std::string& signature) {
  try {
    const Layer layer = parse_layer(signature);
    const Cost c = cost(layer);
    return Demand{arithmetic_type(layer), c.flops, c.least_flops, c.weights + c.activations, c.written};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The least time of a row that a bound may use: over its samples, or over common rounds.
Seconds least_counted(const Measurement& row) {
  const double low = detail::quantile(row.rounds_s, 0.1);
  return std::isfinite(low) ? std::min(row.times->p10, Seconds{low}) : row.times->p10;
}

/// The layer of a row; empty for a loop, which has no cache state in its name.
std::optional<std::string> layer_of(const CeilingRow& row) {
  constexpr auto states = enum_names(CacheState{});
  for (const auto state : states) {
    const std::string part = "/" + std::string(state) + "/";
    if (const auto at = row.algorithm.find(part); at != std::string::npos)
      return row.algorithm.substr(at + part.size());
  }
  return std::nullopt;
}

/// The side of a square product (`product_peaks`); 0 for other layers.
std::int64_t square_side(const std::string& signature) {
  try {
    const Layer layer = parse_layer(signature);
    const auto* product = std::get_if<op::MatMul>(&layer);
    const bool square =
        product != nullptr && product->a == product->b && product->a.size() == 2 && product->a[0] == product->a[1];
    return square ? product->a[0] : 0;
  } catch (const InputError&) {
    return 0;
  }
}

void take(Ceilings& ceilings, const CeilingRow& row) {
  if (const auto type = row.quantity.type()) {
    auto& peak = ceilings.peaks[*type];
    if (!(row.value > peak.value)) return;
    peak.value = row.value;
    ceilings.reached_by[*type] = row.algorithm;
  } else if (row.quantity.kind == CeilingQuantity::Kind::bandwidth) {
    const auto same = [&row](const BandwidthLevel& level) { return level.name == row.quantity.of; };
    auto level = std::find_if(ceilings.levels.begin(), ceilings.levels.end(), same);
    if (level == ceilings.levels.end()) level = ceilings.levels.insert(level, BandwidthLevel{.name = row.quantity.of});
    level->in_front = std::max(level->in_front, Bytes{row.in_front_bytes});
    if (!(row.value > level->bandwidth.value)) return;
    level->bandwidth.value = row.value;
    level->reached_by = row.algorithm;
  }
}

}  // namespace

namespace {

/// The highest row of each quantity at each thread count, or the least row of a timer; ordered by both.
std::vector<CeilingRow> best_of(std::span<const CeilingRow> rows) {
  std::map<std::pair<CeilingQuantity, int>, CeilingRow> best;
  for (const auto& row : rows) {
    auto [at, added] = best.try_emplace({row.quantity, row.threads}, row);
    CeilingRow& highest = at->second;
    const double in_front = std::max(highest.in_front_bytes, row.in_front_bytes);
    const bool least = row.quantity.kind == CeilingQuantity::Kind::timer;
    if (!added && (least ? row.value < highest.value : row.value > highest.value)) highest = row;
    highest.in_front_bytes = in_front;
  }
  std::vector<CeilingRow> result;
  for (auto& [key, row] : best) result.push_back(std::move(row));
  return result;
}

CeilingQuantity round_trip_quantity() { return CeilingQuantity::timer("round_trip"); }

/// Whether the rows of a quantity are readings of sessions, for which the usual value counts rather than the best.
bool is_of_readings(const CeilingQuantity& quantity) {
  return quantity == round_trip_quantity() || quantity == CeilingQuantity::timer("memory_chase") ||
         quantity == CeilingQuantity::timer("memory_stream");
}

/// The 25th percentile of the readings; 0 if there are none with this many threads. For the memory, only readings of
/// the latest sessions count, and a value on which the last two of them agree is usual, because memory may become
/// slower for good.
Seconds usual_reading(std::span<const CeilingRow> rows, const CeilingQuantity& quantity, int threads) {
  constexpr std::size_t latest = 8;
  std::vector<double> readings;
  for (const auto& row : rows)
    if (row.threads == threads && row.quantity == quantity) readings.push_back(row.value);
  if (readings.empty()) return {};
  if (quantity == round_trip_quantity()) return {detail::quantile(readings, 0.25)};
  if (readings.size() > latest) readings.erase(readings.begin(), readings.end() - latest);
  const std::size_t n = readings.size();
  const double agreed = n < 2 ? 0 : std::min(readings[n - 1], readings[n - 2]);
  return {std::max(detail::quantile(readings, 0.25), agreed)};
}

/// What loops reached, and square products of types that have no loop. On a device, square products count in addition
/// to loops, whose instructions are not the fastest on every device.
std::vector<CeilingRow> reached_by_loops(std::span<const CeilingRow> rows) {
  constexpr std::int64_t side_on_device = 8192;
  std::set<CeilingQuantity> of_loops;
  for (const auto& row : rows)
    if (!layer_of(row)) of_loops.insert(row.quantity);
  std::vector<CeilingRow> reached;
  for (const auto& row : rows) {
    const auto layer = layer_of(row);
    const std::int64_t side = layer ? square_side(*layer) : 0;
    if (!layer || side == side_on_device || (side > 0 && !of_loops.contains(row.quantity))) reached.push_back(row);
  }
  return best_of(reached);
}

/// The limit to which a layer may raise a row's ceiling; infinite if no loop measured the quantity.
double limit(std::span<const CeilingRow> reached, const CeilingRow& row) {
  double highest = 0;
  for (const auto& each : reached)
    if (each.quantity == row.quantity && each.threads <= row.threads) highest = std::max(highest, each.value);
  return highest > 0 ? CeilingCheck::most_raise * highest : std::numeric_limits<double>::infinity();
}

/// Omits the rows of layers that raise a ceiling further than they may.
std::vector<CeilingRow> credible(std::span<const CeilingRow> rows) {
  const auto reached = reached_by_loops(rows);
  std::vector<CeilingRow> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
               [&](const CeilingRow& row) { return !layer_of(row) || row.value <= limit(reached, row); });
  return result;
}

}  // namespace

std::vector<CeilingRow> highest_ceilings(std::span<const CeilingRow> rows) {
  std::vector<CeilingRow> result = best_of(credible(rows));
  for (auto& row : result)
    if (is_of_readings(row.quantity)) row.value = usual_reading(rows, row.quantity, row.threads).value;
  return result;
}

Ceilings ceilings_of(std::span<const CeilingRow> rows, int threads) {
  const CeilingQuantity floor = CeilingQuantity::timer("floor");
  std::set<CeilingQuantity> measured;
  std::optional<double> timer_floor;
  for (const auto& row : rows) {
    if (row.threads == threads) measured.insert(row.quantity);
    if (row.quantity == floor) timer_floor = std::min(timer_floor.value_or(row.value), row.value);
  }
  Ceilings ceilings;
  for (const auto& row : credible(rows))
    if (row.threads <= threads && measured.contains(row.quantity)) take(ceilings, row);
  if (timer_floor) ceilings.timer_floor.value = *timer_floor;
  ceilings.round_trip = usual_reading(rows, round_trip_quantity(), threads);
  std::stable_sort(ceilings.levels.begin(), ceilings.levels.end(),
                   [](const auto& a, const auto& b) { return a.in_front < b.in_front; });
  return ceilings;
}

struct CeilingCheck::State {
  std::vector<CeilingRow> rows{};
  std::vector<CeilingRow> reached{};  ///< `reached_by_loops`
  std::map<int, Ceilings> at{};       ///< by thread count
  std::unordered_map<std::string, std::optional<Demand>> demands{};

  Ceilings& ceilings(int threads) {
    const auto found = at.find(threads);
    return found != at.end() ? found->second : at.emplace(threads, ceilings_of(rows, threads)).first->second;
  }
  const std::optional<Demand>& demand(const std::string& signature) {
    const auto [entry, added] = demands.try_emplace(signature);
    if (added) entry->second = demand_of(signature);
    return entry->second;
  }
  /// The ceilings that a trustworthy row exceeds, with the values that it reached.
  std::vector<CeilingRow> beaten(const Measurement& row);
};

std::vector<CeilingRow> CeilingCheck::State::beaten(const Measurement& row) {
  std::vector<CeilingRow> result;
  if (row.contended || !row.measured() || !row.times || !(row.times->p10.value > 0)) return result;
  const auto& asked = demand(row.signature);
  if (!asked) return result;
  const Ceilings& known = ceilings(row.threads);
  const Seconds time = least_counted(row);
  const auto add = [&](CeilingQuantity quantity, double value, double in_front) {
    result.push_back({.quantity = std::move(quantity),
                      .algorithm = row.name(),
                      .threads = row.threads,
                      .value = value,
                      .in_front_bytes = in_front});
  };
  const auto peak = known.peaks.find(asked->type);
  const double reached_flops = asked->flops.value / time.value;
  if (!row.saves_multiplications && peak != known.peaks.end() && reached_flops > peak->second.value)
    add(CeilingQuantity::peak(asked->type), reached_flops, 0);
  for (const auto& level : known.levels) {
    const double crossing = std::max(0.0, asked->read.value - level.in_front.value) +
                            std::max(0.0, asked->written.value - level.in_front.value);
    if (crossing / time.value > level.bandwidth.value)
      add(CeilingQuantity::bandwidth(level.name), crossing / time.value, level.in_front.value);
  }
  return result;
}

CeilingCheck::CeilingCheck(std::span<const CeilingRow> rows) : state_(std::make_unique<State>()) {
  state_->reached = reached_by_loops(rows);
  state_->rows = highest_ceilings(rows);
  state_->rows.insert(state_->rows.end(), state_->reached.begin(), state_->reached.end());
}
CeilingCheck::~CeilingCheck() = default;

std::string CeilingCheck::damage(const Measurement& row) {
  if (!row.measured() || !row.times || !(row.times->p10.value > 0)) return {};
  const auto& demand = state_->demand(row.signature);
  if (!demand) return {};
  const Ceilings& ceilings = state_->ceilings(row.threads);
  const Seconds arithmetic = ceilings.arithmetic_floor(demand->type, demand->flops_of(row));
  const Seconds floor = std::max(arithmetic, ceilings.memory_floor(demand->read, demand->written));
  const double times = floor / least_counted(row);
  if (!(times > implausible)) return {};
  char text[80];
  std::snprintf(text, sizeof text, "beats the machine's ceilings %.3g times: not a time of this layer", times);
  return text;
}

std::vector<CeilingRow> CeilingCheck::raise(const Measurement& row) {
  if (!damage(row).empty()) return {};
  std::vector<CeilingRow> raised = state_->beaten(row);
  const auto too_high = [&](const CeilingRow& each) { return each.value > limit(state_->reached, each); };
  if (std::any_of(raised.begin(), raised.end(), too_high)) return {};
  for (const auto& each : raised)
    for (auto& [threads, higher] : state_->at)
      if (threads >= row.threads) take(higher, each);
  state_->rows.insert(state_->rows.end(), raised.begin(), raised.end());
  return raised;
}

std::vector<std::string> CeilingCheck::contradictions(const Measurement& row) {
  std::vector<std::string> lines;
  if (!damage(row).empty()) return lines;
  for (const auto& beaten : state_->beaten(row)) {
    const double most = limit(state_->reached, beaten);
    if (!(beaten.value > most)) continue;
    char times[32];
    std::snprintf(times, sizeof times, "%.3g", beaten.value / most * most_raise);
    const bool peak = beaten.quantity.type().has_value();
    lines.push_back(std::string(times) + " times " + beaten.quantity.text() + ", as measured: its " +
                    (peak ? "FLOPs" : "bytes") + " are counted too high, or the ceiling was measured too low");
  }
  return lines;
}

void raise_ceilings(std::vector<CeilingRow>& ceilings, std::span<const Measurement> rows) {
  CeilingCheck check(ceilings);
  for (const auto& row : rows) {
    auto raised = check.raise(row);
    ceilings.insert(ceilings.end(), raised.begin(), raised.end());
  }
}

}  // namespace benanza
