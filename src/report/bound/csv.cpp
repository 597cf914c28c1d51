// SPDX-License-Identifier: Apache-2.0
// CSV reports (RFC 4180): one line per row, units in the column's name.
#include "format/numbers.hpp"
#include "sweep.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/report.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <ostream>
#include <string_view>

namespace benanza {

using namespace format;

namespace {

/// Columns that witnesses add, and empty fields for lines without a witness.
constexpr std::string_view witness_columns = ",alone_ms,fastest_ms,layer,layout_plan";
constexpr std::string_view no_witness_fields = ",,,,";

/// The calls of a witness in the columns of rows: the nodes take the place of a signature, times are those in the
/// execution.
void write_witness(std::ostream& out, const Analysis& a, const Witness& witness) {
  if (!witness.given()) return;
  const auto known = [](Seconds time) { return time.value > 0 ? fmt::format("{}", time.value * 1e3) : ""; };
  for (const auto& call : witness.calls)
    out << fmt::format("{},witness,{},1,executed,,{},in_place,{},,,,,,,,{},{},{},{}\n", csv_field(a.model),
                       csv_field(fmt::format("{}", fmt::join(call.nodes, " "))), csv_field(call.plan),
                       call.in_place.value * 1e3, known(call.alone), known(call.fastest), csv_field(call.layer),
                       csv_field(call.layout_plan));
}

/// A line of the rungs of a model.
struct RungLine {
  std::string_view name{};
  std::optional<Seconds> bound{}, median{};
  std::optional<double> uncertainty{};
  double floor_share = 0;
  std::string_view status{};  ///< empty, `unknown`, `partial`, `provisional` or `refused`
  std::string_view reason{};  ///< of the status
};

void write_line(std::ostream& out, const Analysis& a, const RungLine& line) {
  std::string dims;
  for (const auto& [name, size] : a.dims) dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, size);
  out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(a.model), a.batch, csv_field(dims), line.name,
                     ms_field(line.bound), ms_field(line.median),
                     line.uncertainty ? fmt::format("{}", *line.uncertainty) : "", line.floor_share,
                     line.name == enum_names(RungName{})[static_cast<std::size_t>(a.headline())] ? 1 : 0, line.status,
                     csv_field(line.reason));
}

/// The rungs that the table shows.
void write_rungs(std::ostream& out, const Analysis& a) {
  for (std::size_t i = 0; i < rung_count; ++i) {
    const Rung& rung = a.rungs[i];
    if (static_cast<RungName>(i) == RungName::roofline_memory || (a.analytic && !rung.bound)) continue;
    const bool knows_interval = rung.median && !rung.mostly_floor();
    write_line(out, a,
               {.name = enum_names(RungName{})[i],
                .bound = rung.bound,
                .median = rung.median,
                .uncertainty = knows_interval ? std::optional(rung.uncertainty) : std::nullopt,
                .floor_share = rung.floor_share,
                .status = !rung.bound                  ? "unknown"
                          : rung.median && a.partial() ? "partial"
                          : rung.provisional()         ? "provisional"
                                                       : "",
                .reason = rung.doubt});
  }
}

/// The two rungs of a witness, or why there is none.
void write_witness_rungs(std::ostream& out, const Analysis& a, const Witness& witness) {
  if (!witness.given()) return write_line(out, a, {.name = "witness", .status = "refused", .reason = witness.refused});
  if (const auto& bound = a[RungName::library_fused_resident].bound; bound && !witness.node_by_node)
    write_line(out, a, {.name = "library_chained", .bound = witness.chained(*bound)});
  write_line(out, a, {.name = "witness", .bound = witness.p10, .median = witness.median});
}

}  // namespace

void write_csv(std::ostream& out, const BoundReport& report) {
  if (!report.sweeps.empty()) return report::write_sweep_csv(out, report.sweeps);
  out << "model,form,signature,count,status,backend,algorithm,cache,p10_ms,median_ms,floor_ms,flops,bytes,critical,"
         "noisy,contended"
      << (report.witnesses.empty() ? "" : witness_columns) << '\n';
  const std::string_view rest = report.witnesses.empty() ? "" : no_witness_fields;
  for (const auto& model : report.models) {
    for (const auto& row : model.rows) {
      const bool measured = row.chosen.has_value();
      out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}{}\n", csv_field(model.model),
                         enum_names(row.form)[static_cast<std::size_t>(row.form)], csv_field(row.signature), row.count,
                         enum_names(row.status)[static_cast<std::size_t>(row.status)],
                         measured ? row.chosen->backend : "", measured ? csv_field(row.chosen->algorithm) : "",
                         measured ? enum_names(row.chosen->cache)[static_cast<std::size_t>(row.chosen->cache)] : "",
                         measured ? fmt::format("{}", row.p10.value * 1e3) : "",
                         measured ? fmt::format("{}", row.median.value * 1e3) : "", row.floor().value * 1e3,
                         row.cost.flops.value, row.cost.bytes().value, row.critical ? 1 : 0,
                         measured && row.chosen->noisy ? 1 : 0, measured && row.chosen->contended ? 1 : 0, rest);
    }
  }
  for (std::size_t i = 0; i < report.witnesses.size(); ++i) write_witness(out, report.models[i], report.witnesses[i]);
}

void write_rungs_csv(std::ostream& out, const BoundReport& report) {
  out << "model,batch,dims,rung,bound_ms,median_ms,uncertainty,floor_share,headline,status,reason\n";
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    write_rungs(out, report.models[i]);
    if (i < report.witnesses.size()) write_witness_rungs(out, report.models[i], report.witnesses[i]);
  }
}

void write_csv(std::ostream& out, const PlansReport& report) {
  out << "signature,backend,algorithm,cache,p10_ms,median_ms,p90_ms,cv,samples,chosen,floor_ms,excluded,noisy,"
         "contended,advised\n";
  for (const auto& layer : report.layers)
    for (const auto& row : layer.candidates)
      out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(layer.signature), row.backend,
                         csv_field(row.algorithm), enum_names(row.cache)[static_cast<std::size_t>(row.cache)],
                         row.measured() ? fmt::format("{}", row.times->p10.value * 1e3) : "",
                         row.measured() ? fmt::format("{}", row.times->median.value * 1e3) : "",
                         row.measured() ? fmt::format("{}", row.times->p90.value * 1e3) : "",
                         row.times && row.times->cv ? fmt::format("{}", *row.times->cv) : "", row.samples,
                         row.rounds_s.empty() ? 0 : 1,
                         (row.saves_multiplications ? layer.least_floor : layer.direct_floor).value * 1e3,
                         csv_field(row.reason), row.noisy ? 1 : 0, row.contended ? 1 : 0, row.advised ? 1 : 0);
}

void write_csv(std::ostream& out, const LayersReport& report) {
  out << "signature,count,models,macs,flops,bytes,flops_per_byte\n";
  for (const auto& [signature, unique] : report.layers.layers()) {
    const Cost c = cost(unique.layer);
    std::string users;
    for (const auto& user : unique.users)
      users += fmt::format("{}{} x{}", users.empty() ? "" : "; ", user.model, user.count);
    out << fmt::format("{},{},{},{},{},{},{}\n", csv_field(signature.text()), unique.count(), csv_field(users), c.macs,
                       c.flops.value, c.bytes().value, c.intensity());
  }
  for (const auto& layer : report.symbolic)
    out << fmt::format("{},{},{},,,,\n", csv_field(layer.signature), layer.user.count,
                       csv_field(fmt::format("{} x{}", layer.user.model, layer.user.count)));
}

void write_csv(std::ostream& out, const MachineReport& report) {
  out << "quantity,threads,value,algorithm,in_front_bytes\n";
  for (const auto& row : report.ceilings)
    out << fmt::format("{},{},{},{},{}\n", csv_field(row.quantity.text()), row.threads, row.value,
                       csv_field(row.algorithm), row.in_front_bytes);
}

}  // namespace benanza
