// SPDX-License-Identifier: Apache-2.0
// CSV reports (RFC 4180): one line per row, units in the column's name.
#include "format.hpp"
#include "sweep.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/report.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <ostream>
#include <string_view>

namespace benanza {

using report::csv_field;

namespace {

/// Columns that witnesses add, and empty fields for lines without a witness.
constexpr std::string_view witness_columns = ",alone_ms,fastest_ms,layer,layout_plan,tightness,reason";
constexpr std::string_view no_witness_fields = ",,,,,,";

/// A rung, in the columns of rows, with its name in place of a signature. Its status is empty, or `provisional`.
void write_rung(std::ostream& out, const std::string& model, std::string_view name, Seconds bound,
                std::optional<Seconds> median, std::string_view status, std::string_view rest) {
  out << fmt::format("{},rung,{},1,{},,,,{},{},,,,,,{}\n", csv_field(model), name, status, bound.value * 1e3,
                     median ? fmt::format("{}", median->value * 1e3) : "", rest);
}

/// The rungs that the table shows.
void write_rungs(std::ostream& out, const Analysis& a, std::string_view rest) {
  for (std::size_t i = 0; i < rung_count; ++i)
    if (const auto name = static_cast<RungName>(i); name != RungName::roofline_memory && a[name].bound)
      write_rung(out, a.model, enum_names(name)[i], *a[name].bound, a[name].median,
                 a[name].provisional() ? "provisional" : "", rest);
}

/// The two rungs of a witness, and its calls in the columns of rows: the nodes take the place of a signature, times are
/// those in the execution. If there is no witness, one line with the reason.
void write_witness(std::ostream& out, const Analysis& a, const Witness& witness) {
  if (!witness.given()) {
    out << fmt::format("{},witness,,1,refused,,,,,,,,,,,,,,,,,{}\n", csv_field(a.model), csv_field(witness.refused));
    return;
  }
  std::string tightness;
  if (const auto& bound = a[RungName::library_fused_resident].bound; bound && !witness.node_by_node) {
    write_rung(out, a.model, "library_chained", witness.chained(*bound), std::nullopt, "", no_witness_fields);
    if (bound->value > 0) tightness = fmt::format("{}", witness.p10 / *bound);
  }
  write_rung(out, a.model, "witness", witness.p10, witness.median, "", fmt::format(",,,,,{},", tightness));
  const auto known = [](Seconds time) { return time.value > 0 ? fmt::format("{}", time.value * 1e3) : ""; };
  for (const auto& call : witness.calls)
    out << fmt::format("{},witness,{},1,executed,,{},in_place,{},,,,,,,,{},{},{},{},,\n", csv_field(a.model),
                       csv_field(fmt::format("{}", fmt::join(call.nodes, " "))), csv_field(call.plan),
                       call.in_place.value * 1e3, known(call.alone), known(call.fastest), csv_field(call.layer),
                       csv_field(call.layout_plan));
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
    write_rungs(out, model, rest);
  }
  for (std::size_t i = 0; i < report.witnesses.size(); ++i) write_witness(out, report.models[i], report.witnesses[i]);
}

void write_csv(std::ostream& out, const PlansReport& report) {
  out << "signature,backend,algorithm,cache,p10_ms,median_ms,p90_ms,cv,samples,chosen,floor_ms,excluded,noisy,"
         "contended,advised\n";
  for (const auto& layer : report.layers)
    for (const auto& row : layer.candidates)
      out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(layer.signature), row.backend,
                         csv_field(row.algorithm), enum_names(row.cache)[static_cast<std::size_t>(row.cache)],
                         row.measured() ? fmt::format("{}", row.p10.value * 1e3) : "",
                         row.measured() ? fmt::format("{}", row.median.value * 1e3) : "",
                         row.measured() ? fmt::format("{}", row.p90.value * 1e3) : "", row.cv, row.samples,
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
