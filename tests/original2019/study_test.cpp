// SPDX-License-Identifier: Apache-2.0
// The paper's study, from the published data. Expected values: recomputed from the files by a script, and numbers that
// the original printed.
#include "study/profile_folder.hpp"
#include "support/catch.hpp"
#include "support/data2019.hpp"
#include "support/results_support.hpp"
#include <benanza/error.hpp>
#include <benanza/original2019/study.hpp>
#include <benanza/study/make_study.hpp>

#include <algorithm>

using namespace benanza;

namespace {

using results_support::Folder;

const original2019::Data& published() {
  static const original2019::Data data = original2019::read_data({data2019::file("study").string()});
  return data;
}

std::set<std::string> all_models() {
  std::set<std::string> names;
  for (const auto& total : published().totals) names.insert(total.model);
  return names;
}

std::vector<StudyLatency> latencies() {
  std::vector<StudyLatency> made;
  for (const auto& row : published().latencies)
    made.push_back({.model = row.model,
                    .device = row.device,
                    .framework = row.framework,
                    .batch = row.batch,
                    .time = row.time,
                    .lowest = row.lowest,
                    .highest = row.highest});
  return made;
}

const Study& study() {
  static const Study made = make_study(original2019::accounts_of_totals(published(), all_models()), latencies());
  return made;
}

const StudyMean& mean_of(const std::string& quantity, const std::string& device, const std::string& framework,
                         std::int64_t batch) {
  for (const auto& mean : study().means)
    if (mean.quantity == quantity && mean.device == device && mean.framework == framework && mean.batch == batch)
      return mean;
  FAIL("no mean of " + quantity);
  throw;
}

const StudyRow& row_of(const std::string& model, const std::string& framework, std::int64_t batch = 1) {
  for (const auto& row : study().rows)
    if (row.model == model && row.framework == framework && row.batch == batch && row.device == "Tesla V100-SXM2-16GB")
      return row;
  FAIL("no row of " + model);
  throw;
}

}  // namespace

TEST_CASE("V100, batch 1, MXNet: the ratios are those that the data gives") {
  const StudyMean& sequential = mean_of("ratio of library", "Tesla V100-SXM2-16GB", "mxnet", 1);
  CHECK(sequential.all.count == 30);
  CHECK(sequential.all.mean == Approx(0.884).margin(5e-4));
  REQUIRE(sequential.complete);
  CHECK(sequential.complete->count == 24);
  CHECK(sequential.complete->mean == Approx(0.906).margin(5e-4));
  const StudyMean& parallel = mean_of("ratio of library_parallel", "Tesla V100-SXM2-16GB", "mxnet", 1);
  CHECK(parallel.all.mean == Approx(0.768).margin(5e-4));
  CHECK(parallel.complete->mean == Approx(0.845).margin(5e-4));
  CHECK(1 / row_of("BVLC_GoogleNet", "mxnet").ratio(RungName::library_parallel).value() == Approx(2.84).margin(5e-3));
  CHECK(1 / row_of("Inception-v1", "mxnet").ratio(RungName::library_parallel).value() == Approx(2.66).margin(5e-3));
  CHECK(1 / row_of("Inception-v2", "mxnet").ratio(RungName::library_parallel).value() == Approx(2.14).margin(5e-3));
}

TEST_CASE("cuDNN's advice at batch 32 costs 17 % on a V100 and 28 % on a T4") {
  const StudyMean& v100 = mean_of("algorithms", "Tesla V100-SXM2-16GB", "", 32);
  CHECK(v100.all.count == 30);
  CHECK(v100.all.mean == Approx(1.174).margin(5e-4));
  CHECK(mean_of("algorithms", "Tesla T4", "", 32).all.mean == Approx(1.275).margin(5e-4));
}

TEST_CASE("ResNet50-v1 at batch 32 takes 33.62 ms in f32 and 19.13 ms in f16, by the variants") {
  const auto found = std::find_if(study().accounts.begin(), study().accounts.end(), [](const auto& account) {
    return account.source == "variants" && account.batch == 32 && account.device == "Tesla V100-SXM2-16GB";
  });
  REQUIRE(found != study().accounts.end());
  CHECK(rung_of(found->rungs, RungName::library)->value * 1e3 == Approx(33.624781));
  CHECK(rung_of(found->in_types.at(DataType::f16), RungName::library)->value * 1e3 == Approx(19.134692));
  // Sequential, advised, and the least: fused, side by side, in f16. Totals: 36.539689 / 33.682578.
  const StudyRow& row = row_of("ResNet050-v1", "mxnet", 32);
  CHECK(row.speedup(Optimization::tensor_cores).value() == Approx(33.624781 / 19.134692));
  CHECK(row.speedup(Optimization::fusion).value() == Approx(33.624781 / 31.805));
  CHECK(row.speedup(Optimization::layout).value() == Approx(19.134692 / 19.525667));
  CHECK(row.speedup(Optimization::all).value() == Approx(36.539689 / 33.682578 * 33.624781 / 15.375208));
}

TEST_CASE("Latencies of a run that failed are noted, and give no ratio") {
  // Batch 32 on the T4: rows whose names are in lower case have 0.011 ms to 0.056 ms, for bounds of 11 ms to 43 ms.
  const StudyMean& mean = mean_of("ratio of library", "Tesla T4", "mxnet", 32);
  CHECK(mean.all.count == 21);
  CHECK(mean.all.mean == Approx(0.7099303));
}

TEST_CASE("The paper's figures stand beside those of its data, and differ where they do") {
  const auto claims = original2019::check_claims(study(), {});
  const auto found = [&](const std::string& part) {
    const auto at = std::find_if(claims.begin(), claims.end(),
                                 [&](const auto& claim) { return claim.what.find(part) != std::string::npos; });
    REQUIRE(at != claims.end());
    return *at;
  };
  CHECK(found("ratio, sequential").agrees);
  CHECK_FALSE(found("ratio, parallel").agrees);  // 0.768 is not 0.76
  CHECK(found("ratio, parallel").published == "0.76");
  CHECK_FALSE(found("GoogleNet").agrees);
  CHECK(found("Tesla T4").agrees);
  CHECK(found("sequential, f32").found.value() == Approx(33.624781));
  CHECK(found("sequential, f16").found.value() == Approx(19.134692));
  CHECK(found("sequential, f16").published.empty());
}

TEST_CASE("A database of 2019 knows what cuDNN advised") {
  // The original's own total of the advised algorithms, from another run, is 36.539689 ms.
  original2019::Data data;
  data.databases.push_back(data2019::results("resnet50_v100_b32.json.gz"));
  std::vector<std::string> warnings;
  const auto accounts = original2019::accounts_of_rows(data, data2019::model("ResNet050-v1", 32), warnings);
  REQUIRE(accounts.size() == 1);
  CHECK(accounts[0].source == "database");
  CHECK(rung_of(accounts[0].rungs, RungName::library)->value * 1e3 == Approx(33.624781));
  CHECK(rung_of(accounts[0].rungs, RungName::library_fused)->value * 1e3 == Approx(31.805).margin(1e-3));
  CHECK(accounts[0].advised.value().value * 1e3 == Approx(36.539689).epsilon(0.005));
  CHECK(data.has_rows("ResNet050-v1", 32));
  CHECK_FALSE(data.has_rows("ResNet050-v1", 1));
}

TEST_CASE("A table of rows of several GPUs gives an account of each") {
  const original2019::Data data = original2019::read_data({data2019::file("layers_b1.csv.gz").string()});
  std::vector<std::string> warnings;
  const auto accounts = original2019::accounts_of_rows(data, data2019::model("MNIST"), warnings);
  REQUIRE(accounts.size() == 4);
  for (const auto& account : accounts)
    if (account.device == "Tesla_T4")  // the total that was printed for MNIST
      CHECK(rung_of(account.rungs, RungName::library)->value * 1e3 == Approx(0.116097).margin(2e-6));
}

TEST_CASE("The names of variants say what was totalled") {
  const original2019::Total one = original2019::parse_variant("serial_fused_nhwc_latency_float16");
  CHECK((!one.parallel && one.fused && one.nhwc && one.type == DataType::f16));
  const original2019::Total other = original2019::parse_variant("7.6.4.38/latency_float16");
  CHECK(other.parallel);
  CHECK(other.source == "variants of cudnn 7.6.4.38");
  CHECK(original2019::parse_variant("cudnn_advised_serial_latency").advised);
  CHECK_THROWS_WITH(original2019::parse_variant("quick_latency"), Catch::Contains("quick_latency"));
}

TEST_CASE("Broken files of a study are refused with their place") {
  const Folder folder;
  struct Row {
    std::string text, message;
  };
  const auto broken = GENERATE(
      Row{"model,mean_ms\nMNIST,-1\n", "line 2: mean_ms is '-1'"},
      Row{"model,mean_ms\nMNIST,0\n", "line 2: a latency of 0"},
      Row{"model,mean_ms\nMNIST,1e300\n", "line 2: mean_ms is '1e300', expected 0 or a time from 1 ps to 1 year"},
      Row{"model,mean_ms,min_ms\nMNIST,1,1e-300\n", "line 2: min_ms is '1e-300'"},
      Row{"model,mean_ms\n,1\n", "line 2: the model has no name"},
      Row{"model,mean_ms\nMNIST,1,2\n", "line 2: 3 fields"},
      Row{"model,mean_ms,batch\nMNIST,1,1.5\n", "line 2: batch is '1.5'"},
      Row{"model,mean_ms,batch\nMNIST,1,0\n", "line 2: batch is '0'"},
      Row{"model,mean_ms\nMNIST,nan\n", "line 2: mean_ms is 'nan'"},
      Row{"model,mean_ms,min_ms,max_ms\nMNIST,2,3,1\n", "line 2: min_ms is above max_ms"},
      Row{"model,mean_ms\n\"MNIST,1\n", "line 2: a quote is not closed"}, Row{"", "line 1: no latencies"},
      Row{"framework,mean_ms\nmxnet,1\n", "line 1: no latencies"}, Row{"model,mean_ms\n", "no rows"});
  const auto path = folder.write("r.csv", broken.text);
  CHECK_THROWS_WITH(read_latencies(path.string()), Catch::Contains(broken.message) && Catch::Contains("r.csv"));
  const auto totals = folder.write("t.csv", "variant,gpu,b1\nquick,V100,1\n");
  CHECK_THROWS_WITH(original2019::read_totals(totals.string()), Catch::Contains("t.csv: line 2: 'quick'"));
  const auto no_batch = folder.write("b.csv", "gpu,batch,model,serial_total_published\nV100,none,MNIST,1\n");
  CHECK_THROWS_WITH(original2019::read_totals(no_batch.string()), Catch::Contains("b.csv: line 2: batch is 'none'"));
  const auto no_total = folder.write("n.csv", "gpu,batch,model,serial_total_published\nV100,1,MNIST,fast\n");
  CHECK_THROWS_WITH(original2019::read_totals(no_total.string()), Catch::Contains("serial_total_published is 'fast'"));
  const auto table =
      folder.write("MNIST.csv", "LayerName,LayerType,BenchmarkName,RealTime(ms)\na,Conv,x,1\n,,Total,1\n");
  CHECK_THROWS_WITH(original2019::read_data({table.string()}), Catch::Contains("batchsize_32/Tesla_T4"));
}

TEST_CASE("The folders of a printed table say which total it is") {
  const Folder folder;
  const auto in = folder.path / "serial_latency" / "batchsize_32" / "Tesla_T4";
  std::filesystem::create_directories(in);
  std::ofstream(in / "MNIST.csv")
      << "LayerName,LayerType,BenchmarkName,RealTime(ms),Flops\na,Conv,x,1,2\n,,Total,3,2\n";
  const original2019::Data data = original2019::read_data({in.parent_path().parent_path().string()});
  const auto accounts = original2019::accounts_of_totals(data, {"MNIST"});
  REQUIRE(accounts.size() == 1);
  CHECK(accounts[0].batch == 32);
  CHECK(accounts[0].device == "Tesla_T4");
  CHECK(rung_of(accounts[0].rungs, RungName::library)->value == Approx(3e-3));
}

TEST_CASE("Files of a run are found by their names") {
  const Folder folder;
  for (const auto* name : {"mxnet_b1_Squeezenet-v1.1.nsys.sqlite.gz", "mxnet_b1_Squeezenet-v1.1.cudnn.log.gz",
                           "mxnet_f16_nhwc_b32_ResNet050-v1.cudnn.log", "onnxruntime_batch8_resnet050_v1.json",
                           "onnxruntime_b1_ResNet050-v10.json", "notes.txt"})
    static_cast<void>(folder.write(name, "x"));
  const auto made = read_profile_folder(folder.path.string(), {"Squeezenet-v1.1", "ResNet050-v1", "ResNet50"});
  REQUIRE(made.runs.size() == 3);
  const auto& squeezenet = made.runs[0];
  CHECK((squeezenet.model == "Squeezenet-v1.1" && squeezenet.framework == "mxnet" && squeezenet.batch == 1));
  CHECK(squeezenet.files.size() == 2);
  CHECK((made.runs[1].framework == "mxnet nhwc" && made.runs[1].type == DataType::f16 && made.runs[1].batch == 32));
  CHECK((made.runs[2].model == "ResNet050-v1" && made.runs[2].framework == "onnxruntime" && made.runs[2].batch == 8));
  CHECK(made.notes.size() == 2);  // v10 is another model, notes.txt belongs to none
}

TEST_CASE("A manifest says what names do not") {
  const Folder folder;
  static_cast<void>(folder.write("run7.json", "x"));
  static_cast<void>(
      folder.write("table.csv", "LayerName,LayerType,BenchmarkName,RealTime(ms)\na,Conv,x,1\n,,Total,1\n"));
  const auto write = [&](const std::string& rows) {
    static_cast<void>(folder.write("manifest.csv", "file,model,framework,device,batch,type\n" + rows));
    return read_profile_folder(folder.path.string(), {"MNIST"});
  };
  const auto made = write("run7.json,mnist,pytorch,Tesla_T4,16,fp16\ntable.csv,MNIST,,Tesla_T4,1,\n");
  REQUIRE(made.runs.size() == 1);
  CHECK((made.runs[0].framework == "pytorch" && made.runs[0].batch == 16 && made.runs[0].type == DataType::f16));
  REQUIRE(made.tables.size() == 1);
  CHECK(made.tables[0].device == "Tesla_T4");
  CHECK_THROWS_WITH(write("other.json,MNIST,,,,\n"), Catch::Contains("line 2: 'other.json' is not in the folder"));
  CHECK_THROWS_WITH(write("run7.json,MNIST,,,many,\n"), Catch::Contains("line 2: batch is 'many'"));
  CHECK_THROWS_WITH(write("run7.json\n"), Catch::Contains("line 2: 1 fields"));
  CHECK_THROWS_WITH(write("run7.json,MNIST,,,1,fast\n"), Catch::Contains("line 2: type is 'fast'"));
  CHECK_THROWS_WITH(read_profile_folder((folder.path / "none").string(), {"MNIST"}),
                    Catch::Contains("expected a folder"));
}

TEST_CASE("tables of 2019 may have their columns in any order, some missing, and devices that nobody has heard of") {
  const results_support::Folder folder;
  std::ignore = folder.write("totals.csv",
                             "advised_serial_total,model,device,batch,serial_total_published\n"
                             "3.0,MNIST,Quadro RTX 6000,32,2.0\n,MNIST,Jetson_Nano,1,8.0\n");
  std::ignore = folder.write("variants.csv", "b32,gpu,variant\n5.5,Jetson_Nano,resnet50_serial_fused_latency\n");
  std::ignore = folder.write("rows.csv", "time_ms,layer,model,batch,device\n0.5,Convolution28,MNIST,8,Jetson_Nano\n");
  const original2019::Data data = original2019::read_data({folder.path.string()});
  CHECK(data.warnings.empty());
  REQUIRE(data.totals.size() == 4);
  CHECK(data.totals[0].device == "Quadro RTX 6000");
  CHECK(data.totals[0].time.value == Approx(2e-3));
  CHECK_FALSE(data.totals[0].advised);
  CHECK(data.totals[1].advised);
  CHECK(data.totals[1].time.value == Approx(3e-3));
  CHECK(data.totals[2].device == "Jetson_Nano");
  CHECK(data.totals[2].batch == 1);
  CHECK(data.totals[3].fused);
  CHECK(data.totals[3].batch == 32);
  REQUIRE(data.tables.size() == 1);
  CHECK(data.tables[0].device == "Jetson_Nano");
}
