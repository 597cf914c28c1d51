// SPDX-License-Identifier: Apache-2.0
// Device records: the processors and clocks of a machine file.
#include "support/results_support.hpp"
#include <benanza/results/device_record.hpp>

#include <filesystem>

namespace {

using namespace benanza;

const std::string whole_record = R"({ "schema": 1, "device": "A GPU", "names": ["Some A-GPU"],
  "processors": { "kind": "SM", "count": 40, "lanes": { "f32": 64 }, "threads": 1024, "registers": 65536,
                  "shared_bytes": 65536, "blocks": 16, "compute_capability": "7.5", "source": "whitepaper" },
  "clocks": { "base": { "hz": 5.85e8, "source": "brief" }, "boost": { "hz": 1.59e9, "source": "brief" } },
  "peaks": { "f32": { "flops_per_s": 8.1e12, "source": "datasheet" } },
  "memory": { "bytes": 17179869184, "bytes_per_s": 3.2e11, "source": "datasheet",
              "measured": { "bytes_per_s": 2.4e11, "source": "a paper" } } })";

DeviceRecord record_with(const results_support::Folder& folder, const std::string& what, const std::string& with) {
  std::string text = whole_record;
  text.replace(text.find(what), what.size(), with);
  return read_device_record(folder.write("gpu.json", text).string());
}
std::string record_error(const results_support::Folder& folder, const std::string& what, const std::string& with) {
  try {
    static_cast<void>(record_with(folder, what, with));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a record says what a device is made of") {
  const results_support::Folder folder;
  const DeviceRecord record = record_with(folder, "A GPU", "A GPU");
  CHECK(record.device == "A GPU");
  CHECK(record.is_called("Some A-GPU"));
  CHECK(record.is_called("A GPU"));
  CHECK(!record.is_called("Some"));
  REQUIRE(record.accelerator());
  CHECK(record.processors->count == 40);
  REQUIRE(record.processors->limits);
  CHECK(record.processors->limits->major == 7);
  CHECK(record.processors->limits->minor == 5);
  CHECK(record.processors->limits->blocks == 16);
  CHECK(record.best_known_bandwidth().value == 2.4e11);
  CHECK(record.ceilings.memory_bandwidth().value == 3.2e11);  // floors use the theoretical bandwidth
  REQUIRE(record.clock());
  CHECK(record.clock()->kind == ClockKind::base);
  CHECK(record.peak(DataType::f32).value().value == Approx(2.0 * 64 * 40 * 585e6));
  CHECK(!record.peak(DataType::f16));
}

TEST_CASE("the clock under load comes first, and the boost clock where there is no other") {
  const results_support::Folder folder;
  const DeviceRecord boost = record_with(folder, R"("base": { "hz": 5.85e8, "source": "brief" }, )", "");
  CHECK(boost.clock().value().kind == ClockKind::boost);
  CHECK(boost.clock().value().hz == 1.59e9);
  CHECK(record_with(folder, "boost", "load").clock().value().kind == ClockKind::load);
}

TEST_CASE("a broken record is refused with the place") {
  const results_support::Folder folder;
  CHECK_THAT(record_error(folder, "\"bytes_per_s\": 3.2e11, ", ""),
             Catch::Contains("gpu.json: memory: no 'bytes_per_s'"));
  CHECK_THAT(record_error(folder, "\"SM\"", "\"TPC\""),
             Catch::Contains("gpu.json: processors.kind: found 'TPC', expected SM or core"));
  CHECK_THAT(record_error(folder, "7.5", "seven"),
             Catch::Contains("processors.compute_capability: found 'seven', expected two numbers such as 7.5"));
  CHECK_THAT(record_error(folder, "\"count\": 40", "\"count\": 40.5"), Catch::Contains("expected a whole number"));
  CHECK_THAT(record_error(folder, "\"blocks\": 16, ", ""), Catch::Contains("processors: no 'blocks'"));
  CHECK_THAT(record_error(folder, "\"base\"", "\"turbo\""), Catch::Contains("clocks: unknown key 'turbo'"));
  CHECK_THAT(record_error(folder, "5.85e8", "0"), Catch::Contains("clocks.base.hz: found 0, expected a positive"));
  CHECK_THAT(record_error(folder, ", \"source\": \"whitepaper\"", ""), Catch::Contains("processors: no 'source'"));
}

TEST_CASE("every record that comes with Benanza names processors and a clock, and its peak agrees with them") {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(BENANZA_MODELS).parent_path() / "machines")) {
    if (entry.path().extension() != ".json") continue;
    const DeviceRecord record = read_device_record(entry.path().string());
    INFO(entry.path().string());
    REQUIRE(record.processors);
    CHECK(record.clock());
    CHECK(record.processors->limits.has_value() == record.accelerator());
    // A vendor's peak of f32 is at the highest clock: 2 FLOPs per lane and clock.
    const auto boost = record.clocks.find(ClockKind::boost);
    REQUIRE(boost != record.clocks.end());
    const double lanes = static_cast<double>(record.processors->lanes.at(DataType::f32) * record.processors->count);
    CHECK(record.ceilings.peaks.at(DataType::f32).value == Approx(2 * lanes * boost->second.value).epsilon(0.01));
    ++count;
  }
  CHECK(count >= 16);
}
