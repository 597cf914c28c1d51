// SPDX-License-Identifier: Apache-2.0
// A declared machine, and a model on it, computed by hand.
#include "support/graph_builder.hpp"
#include "support/results_support.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/results/machine_file.hpp>

namespace {

using namespace benanza;
using namespace results_support;
using benanza::testing::GraphBuilder;

const std::string small = R"({ "schema": 1, "device": "A device",
  "peaks": { "f32": { "flops_per_s": 1e12, "source": "datasheet" }, "f16": { "flops_per_s": 4e12, "source": "datasheet" } },
  "memory": { "bytes": 8589934592, "bytes_per_s": 1e11, "source": "datasheet" },
  "on_chip": { "L2": { "bytes": 1000000, "source": "whitepaper" }, "registers": { "bytes": 500000, "source": "whitepaper" } } })";

std::string error_of(const Folder& folder, const std::string& what, const std::string& with) {
  std::string text = small;
  text.replace(text.find(what), what.size(), with);
  try {
    static_cast<void>(read_machine_file(folder.write("m.json", text)));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a machine file becomes a run of ceilings, each with its source") {
  const Folder folder;
  const Run run = read_machine_file(folder.write("m.json", small));
  CHECK(run.machine.device == "A device");
  CHECK(run.machine.caches == std::vector<CacheLevel>{{2, {1e6}}});
  CHECK(run.rows.empty());
  ResultDatabase database;
  database.add(run);
  const Ceilings ceilings = database.ceilings(1);
  CHECK(ceilings.peaks == std::map<DataType, FlopsPerSecond>{{DataType::f32, {1e12}}, {DataType::f16, {4e12}}});
  REQUIRE(ceilings.levels.size() == 1);
  CHECK(ceilings.levels[0].bandwidth.value == 1e11);
  CHECK(ceilings.levels[0].in_front.value == 1.5e6);
  for (const auto& row : run.ceilings) CHECK(row.algorithm == "datasheet");
}

TEST_CASE("a declared machine gives the analytic rungs and nothing else") {
  // y = x w with x 1 x 4096 and w 4096 x 4096, f32: 2 * 4096^2 = 33,554,432 FLOPs, 33.554 us at 1 TFLOP/s. Reads are
  // (4096 + 4096^2) * 4 = 67,125,248 bytes, of which 1,500,000 may be on the chip: 65,625,248 bytes at 100 GB/s are
  // 656.25248 us. Writes are 16,384 bytes, which stay on the chip.
  GraphBuilder graph;
  const ValueId x = graph.input({1, 4096}), w = graph.weight({4096, 4096});
  graph.output(graph.node("MatMul", {x, w}, {1, 4096}));
  const Folder folder;
  ResultDatabase database;
  database.add(read_machine_file(folder.write("m.json", small)));
  const Analysis found = analyze(make_model_layers(graph.graph()), database, {.threads = 1, .analytic = true});
  for (const RungName rung : {RungName::model_floor, RungName::roofline, RungName::roofline_parallel})
    CHECK(found[rung].bound.value().value == Approx(656.25248e-6));
  for (std::size_t i = 0; i < rung_count; ++i) {
    const std::string name(enum_names(RungName{})[i]);
    INFO(name);
    CHECK(found.rungs[i].bound.has_value() == !name.starts_with("library"));
    CHECK(!found.rungs[i].median);
  }
  CHECK(!found.partial());
  CHECK(found.coverage[Status::modelled] == 1);
  CHECK(found.coverage[Status::missing] == 0);
}

TEST_CASE("a broken machine file is refused with the place") {
  const Folder folder;
  CHECK(error_of(folder, "A device", "A device") == "");
  CHECK_THAT(error_of(folder, "\"schema\": 1", "\"schema\": 2"), Catch::Contains("m.json: schema: expected 1"));
  CHECK_THAT(error_of(folder, "\"f16\"", "\"f61\""), Catch::Contains("m.json: peaks.f61: no type has this name"));
  CHECK_THAT(error_of(folder, "1e12", "-1e12"),
             Catch::Contains("peaks.f32.flops_per_s: found -1000000000000.0, expected a positive number"));
  CHECK_THAT(error_of(folder, "1e12", "\"fast\""), Catch::Contains("found \"fast\", expected a positive number"));
  CHECK_THAT(error_of(folder, "\"source\": \"datasheet\" }, \"f16\"", "\"sauce\": \"\" }, \"f16\""),
             Catch::Contains("peaks.f32: unknown key 'sauce'"));
  CHECK_THAT(error_of(folder, "1e12, \"source\": \"datasheet\"", "1e12"), Catch::Contains("peaks.f32: no 'source'"));
  CHECK_THAT(error_of(folder, "8589934592", "1e308"),
             Catch::Contains("m.json: memory.bytes: found 1e+308, expected a number from 1e-18 to 1e18"));
  CHECK_THAT(error_of(folder, "\"A device\"", std::string(200'000, '[') + std::string(200'000, ']')),
             Catch::Contains("m.json: nested more than 64 deep"));
  CHECK_THAT(error_of(folder, "\"memory\"", "\"memories\""), Catch::Contains("unknown key 'memories'"));
  CHECK_THAT(error_of(folder, "1e11", "NaN"), Catch::Contains("m.json: not JSON"));
  CHECK_THROWS_WITH(read_machine_file(folder / "absent.json"), Catch::Contains("absent.json: cannot be read"));
}

TEST_CASE("every record that comes with Benanza can be read") {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(BENANZA_MODELS).parent_path() / "machines")) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().string());
    CHECK_NOTHROW(read_machine_file(entry.path()));
    ++count;
  }
  CHECK(count >= 10);
}
