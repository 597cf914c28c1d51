// SPDX-License-Identifier: Apache-2.0
// Expected values: numbers that the original Benanza printed (the total rows of its CSV files), and totals that an
// independent script recomputed from graph and database.
#include "support/catch.hpp"
#include "support/data2019.hpp"
#include <benanza/original2019/rules.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

using namespace benanza;

namespace {

double ms(const original2019::Accounting& made, RungName rung) { return made.analysis[rung].bound.value().value * 1e3; }
double reference_ms(const original2019::Accounting& made, const std::string& name) {
  return made.analysis.reference.at(name).value * 1e3;
}
/// Nanoseconds are cut off in each of 205 calls, and six digits are printed.
constexpr double agreement = 2e-5;

bool names(const std::vector<std::string>& list, const std::string& part) {
  return std::any_of(list.begin(), list.end(), [&](const auto& text) { return text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("ResNet50-v1 totals follow from graph and database as the original printed them") {
  struct Row {
    const char* database;
    double sequential, parallel, fused, fused_parallel, parallel_without_last, fused_parallel_without_last;
  };
  const auto row =
      GENERATE(Row{"resnet50_v100_b1.json.gz", 4.725627, 4.413905, 4.405885, 4.094163, 4.392533, 4.072791},
               Row{"resnet50_t4_b1.json.gz", 11.125627, 10.258743, 10.643745, 9.776861, 10.212979, 9.731097});
  const auto made = original2019::analyze(data2019::model("ResNet050-v1"), data2019::results(row.database));
  CAPTURE(row.database);
  CHECK(made.analysis.missing.empty());
  CHECK(ms(made, RungName::library) == Approx(row.sequential).margin(agreement));
  CHECK(ms(made, RungName::library_parallel) == Approx(row.parallel).margin(agreement));
  CHECK(ms(made, RungName::library_fused) == Approx(row.fused).margin(agreement));
  CHECK(ms(made, RungName::library_fused_parallel) == Approx(row.fused_parallel).margin(agreement));
  CHECK(reference_ms(made, "library_parallel_without_last") == Approx(row.parallel_without_last).margin(agreement));
  CHECK(reference_ms(made, "library_fused_parallel_without_last") ==
        Approx(row.fused_parallel_without_last).margin(agreement));
  CHECK_FALSE(made.analysis[RungName::roofline].bound.has_value());
}

TEST_CASE("At batch 32 the totals are those of the printed table") {
  const auto made =
      original2019::analyze(data2019::model("ResNet050-v1", 32), data2019::results("resnet50_v100_b32.json.gz"));
  CHECK(made.analysis.missing.empty());
  CHECK(made.analysis.batch == 32);
  CHECK(ms(made, RungName::library) == Approx(33.624781).margin(agreement));
  CHECK(reference_ms(made, "library_parallel_without_last") == Approx(30.228662).margin(agreement));
  // Every layer's time is in the table too: 53 convolutions, of which 31 have two rows, and 120 other layers.
  const auto printed =
      original2019::analyze(data2019::model("ResNet050-v1", 32), data2019::results("resnet50_v100_b32.csv.gz"));
  CHECK(printed.analysis.missing.empty());
  CHECK(ms(printed, RungName::library) == Approx(ms(made, RungName::library)).margin(agreement));
  CHECK(printed.analysis.coverage[Status::measured] == 173);
}

TEST_CASE("A layer counts only by a call with its own sizes: another batch matches nothing") {
  const auto made =
      original2019::analyze(data2019::model("ResNet050-v1", 32), data2019::results("resnet50_v100_b1.json.gz"));
  CHECK(made.analysis.partial());
  CHECK_FALSE(made.analysis[RungName::library].bound.has_value());
  CHECK(made.analysis.missing.size() == 173);  // 175 layers, of which the global pool and Flatten are free
  CHECK(names(made.warnings, "--batch"));
}

TEST_CASE("Critical paths over the printed rows are those that were printed") {
  struct Row {
    const char* model;
    const char* table;
    double path;
    bool with_last;
  };
  const auto row = GENERATE(Row{"MNIST", "mnist_v100_b1.csv.gz", 0.088808, true},
                            Row{"MNIST", "mnist_t4_b1.csv.gz", 0.107440, false},
                            Row{"BVLC_AlexNet", "alexnet_v100_b1.csv.gz", 0.865606, true},
                            Row{"Squeezenet-v1.1", "squeezenet_v100_b1.csv.gz", 0.880736, true});
  CAPTURE(row.model, row.table);
  const auto made = original2019::analyze(data2019::model(row.model), data2019::results(row.table));
  const double found =
      row.with_last ? ms(made, RungName::library_parallel) : reference_ms(made, "library_parallel_without_last");
  CHECK(found == Approx(row.path).margin(agreement));
  CHECK(reference_ms(made, "printed_total") == Approx(row.path).margin(1e-9));
  CHECK_FALSE(made.analysis[RungName::library_fused].bound.has_value());
}

TEST_CASE("A layer that was printed twice counts once") {
  const auto made = original2019::analyze(data2019::model("BVLC_AlexNet"), data2019::results("alexnet_v100_b1.csv.gz"));
  CHECK(names(made.warnings, "dropout_1 dropout_2"));
}

TEST_CASE("Layers without a row are named and not summed") {
  struct Row {
    const char* model;
    double sequential;  // the sum of the printed rows: python, csv.reader
    std::size_t missing;
    const char* first;
  };
  const auto row = GENERATE(Row{"Inception-v1", 3.563282 - 0.008584, 2, "conv_1"},
                            Row{"ResNet050-v1", 4.096527, 12, "resnetv17_stage1_conv0_fwd"});
  const std::string table =
      std::string(row.model) == "Inception-v1" ? "inception_v1_v100_b1.csv.gz" : "resnet50_v100_b1.csv.gz";
  const auto made = original2019::analyze(data2019::model(row.model), data2019::results(table));
  CAPTURE(row.model);
  CHECK(made.analysis.partial());
  CHECK(made.analysis.missing.size() == row.missing);
  CHECK(made.analysis.missing.front().find(row.first) == 0);
  CHECK(ms(made, RungName::library) == Approx(row.sequential).margin(agreement));
  CHECK(ms(made, RungName::library) < reference_ms(made, "printed_total"));
}

TEST_CASE("Only the rows of one model on one GPU are taken from a table of many") {
  CHECK_THROWS_WITH(data2019::results("layers_b1.csv.gz"), Catch::Contains("--device"));
  const auto results = data2019::results("layers_b1.csv.gz", "Tesla_V100-SXM2-16GB");
  for (const std::string model : {"BVLC_GoogleNet", "ResNet101-v1", "ResNet152-v1"}) {
    const auto made = original2019::analyze(data2019::model(model), results);
    CAPTURE(model);
    CHECK(made.analysis.partial());
    CHECK(names(made.analysis.missing, "(Conv)"));
  }
  const auto k80 = original2019::analyze(data2019::model("MNIST"), data2019::results("layers_b1.csv.gz", "Tesla_K80"));
  CHECK(ms(k80, RungName::library) > 0.1);
  CHECK_THROWS_WITH(
      original2019::analyze(data2019::model("BVLC_AlexNet"), data2019::results("layers_b1.csv.gz", "Tesla_K80")),
      Catch::Contains("no rows of model 'BVLC_AlexNet'"));
}

TEST_CASE("VGG's first dense layer, measured with the depth before it was flattened, does not count") {
  const auto made = original2019::analyze(data2019::model("VGG16"), data2019::results("vgg16_v100_b1.csv.gz"));
  REQUIRE(made.analysis.missing.size() == 1);
  CHECK(made.analysis.missing[0].find("vgg0_dense0_fwd") == 0);
  CHECK(names(made.analysis.missing, "k = 512, the layer has k = 25088"));
  CHECK(names(made.warnings, "known defect"));
}

// ShuffleNet reshapes to batch 1. All rows behind its first Reshape have the FLOPs of batch 1 (a script has compared
// the tables of both batches): 9 rows of 8 layers are left, with 1.132486 ms together.
TEST_CASE("Rows of another batch than the layer's, by their FLOPs, do not count") {
  const auto results = data2019::results("shufflenet_v100_b32.csv.gz");
  const auto made = original2019::analyze(data2019::model("Shufflenet", 32), results);
  CHECK(made.analysis.missing.size() == 143);
  CHECK(made.analysis.coverage[Status::measured] == 8);
  CHECK(ms(made, RungName::library) == Approx(1.132486).margin(1e-9));
  CHECK(names(made.analysis.missing, "conv3_112 (Conv): its row was measured at batch 1, the layer is of batch 32"));
  CHECK(names(made.warnings, "measured with other sizes, 143 layers"));
}

// Twenty: all convolutions of the zoo's three models that have `auto_pad` (in the graphs here: `pads` of the same
// size), except for the last one of Tiny YOLO v2, a 1x1, which needs no padding: 2 of MNIST, 10 of Emotion FER+, 8 of
// 9.
TEST_CASE("Convolutions whose SAME padding was ignored are named: twenty in all models") {
  const auto results = data2019::results("layers_b1.csv.gz", "Tesla_V100-SXM2-16GB");
  std::size_t convolutions = 0;
  std::set<std::string> models;
  for (const auto& row : results.printed) models.insert(row.model);
  CHECK(models.size() == 30);
  for (const auto& model : models) {
    const auto made = original2019::analyze(data2019::model(model), results);
    for (const auto& warning : made.warnings) {
      const auto at = warning.find("SAME padding ignored, ");
      if (at != std::string::npos) convolutions += std::stoul(warning.substr(at + 22));
    }
  }
  CHECK(convolutions == 20);
}

TEST_CASE("A database's convolution without the layer's SAME padding does not count") {
  // MNIST's Convolution110: 8 channels of 14x14, 16 filters of 5x5, which keep 14x14 with two cells on each side.
  const std::string call = "CONV_FWD/f32/x=1x8x14x14/filters=16/kernel=5x5/pads=";
  const auto with = [&](const char* pads) {
    original2019::Results results;
    results.files = {"r.json"};
    results.calls[call + pads + "/strides=1x1/dilations=1x1/group=1"] = {{"implicit_gemm", nanoseconds(5000)}};
    return original2019::analyze(data2019::model("MNIST"), results);
  };
  const auto unpadded = with("0x0");
  for (const RungName rung : {RungName::library, RungName::library_parallel, RungName::library_fused})
    CHECK_FALSE(unpadded.analysis[rung].bound.has_value());  // no layer has a time: the bound is not 0
  CHECK(unpadded.analysis.reference.empty());
  CHECK(names(unpadded.analysis.missing, "only one without its SAME padding"));
  CHECK(names(unpadded.warnings, "SAME padding ignored, 1 layer: Convolution110"));
  const auto padded = with("2x2");
  CHECK(ms(padded, RungName::library) == Approx(0.005));
  CHECK_FALSE(names(padded.warnings, "SAME padding"));
}

TEST_CASE("The engine's algorithms are held against the database's best") {
  const auto results = data2019::results("resnet50_v100_b32.json.gz");
  const auto call = [](const char* signature, const char* algorithm, std::int64_t count) {
    return LibraryCall{.library = "cudnn", .signature = signature, .algorithm = algorithm, .count = count};
  };
  // Times of the database, in ns: 3x3 at 7x7: winograd 842478, winograd_nonfused 324437, which is the best. The call
  // itself pads.
  const auto found =
      original2019::find_slower_algorithms({call("Conv/f32/x=32x512x7x7/w=512x512x3x3/pads=1x1x1x1", "winograd", 2),
                                            call("Conv/f32/x=32x512x9x9/w=512x512x3x3", "winograd", 1),
                                            call("Conv/f32/x=32x512x9x9/w=512x512x3x3", "winograd_nonfused", 1),
                                            call("Conv/f32/x=32x512x7x7/w=512x512x3x3/pads=1x1x1x1", "direct", 1),
                                            call("Conv/f32/x=32x512x8x8/w=512x512x3x3/pads=1x1x1x1", "winograd", 1)},
                                           results);
  REQUIRE(found.slower.size() == 2);
  CHECK(found.slower[0].count == 2);
  CHECK(found.slower[0].best == "winograd_nonfused");
  CHECK(found.slower[0].ratio() == Approx(842478.0 / 324437).epsilon(1e-9));
  CHECK_FALSE(found.slower[0].padded_before);
  CHECK(found.slower[1].padded_before);
  CHECK(found.compared == 4);
  REQUIRE(found.not_compared.size() == 2);
  const auto choices = original2019::choices_of(found, {});
  REQUIRE(choices.size() == 4);
  for (const auto& [i, chosen, count] : {std::tuple{2, "direct", 1}, std::tuple{3, "winograd", 1}}) {
    CHECK(choices[static_cast<std::size_t>(i)].chosen == chosen);
    CHECK(choices[static_cast<std::size_t>(i)].count == count);
    CHECK_FALSE(choices[static_cast<std::size_t>(i)].chosen_time);
  }
}

TEST_CASE("Layers are counted as the paper did: 175 of ResNet50-v1 are 47, 1,229 of its family are 60") {
  const auto count = [](const std::string& name) {
    const auto file = std::filesystem::path(BENANZA_MODELS) / "zoo2019" / (name + ".onnx");
    return original2019::count_layers(import_onnx(file, {.executable = true}));
  };
  const auto total = [](const CountedLayers& layers) { return known_layers("", layers, {}).layers; };
  const CountedLayers resnet50 = count("ResNet050-v1");
  CHECK(total(resnet50) == 175);
  CHECK(resnet50.size() == 47);
  CountedLayers family = resnet50;
  for (const auto* name : {"ResNet018-v1", "ResNet034-v1", "ResNet101-v1", "ResNet152-v1"}) merge(family, count(name));
  CHECK(total(family) == 1229);
  CHECK(family.size() == 60);
}

TEST_CASE("A counted layer takes the time of its calls in a printed table") {
  const auto file = std::filesystem::path(BENANZA_MODELS) / "zoo2019" / "MNIST.onnx";
  const auto results = data2019::results("mnist_v100_b1.csv.gz");
  const CountedLayers layers = original2019::count_layers(import_onnx(file, {.executable = true}), &results);
  const KnownLayers all = known_layers("MNIST", layers, {});
  // The table has nine rows, each for a unique layer: 12.734 + 8.455 + 7.923 + 7.171 + 22.423 + 8.468 + 7.947 + 7.408 +
  // 6.280 us. It lacks Plus214; two Reshapes cost nothing.
  CHECK(all.unique == 12);
  CHECK(all.timed == 9);
  CHECK(all.time.value * 1e6 == Approx(88.809));
}
