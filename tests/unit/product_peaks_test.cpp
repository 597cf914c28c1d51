// SPDX-License-Identifier: Apache-2.0
#include "measure/product_peaks.hpp"

#include "sampling/device_host.hpp"
#include "support/catch.hpp"
#include "support/fake_device.hpp"

#include <memory>
#include <set>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::sampling;
using test::FakeDevice;

constexpr std::int64_t side = 16;
constexpr double time_of_product = 10e-6;  // 2 * 16^3 FLOPs in that time: 819.2 MFLOP/s

/// Products in tf32, and nothing else.
class Multiplier final : public Backend {
 public:
  explicit Multiplier(std::shared_ptr<FakeDevice> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::shared_ptr<Device> device() const override { return device_; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    if (type(layer) != DataType::tf32) return Unsupported{"tf32 alone"};
    Plans result;
    result.push_back(std::make_unique<Product>(*device_, operands(layer)));
    return result;
  }

 private:
  class Product final : public Plan {
   public:
    Product(FakeDevice& device, const Operands& operands)
        : Plan({.algorithm = "product,threads=1",
                .inputs = plain_layouts(operands.inputs),
                .outputs = plain_layouts(operands.outputs),
                .tolerance = 1e-2}),
          device_(device) {}

   private:
    void do_execute(const Arguments& arguments) const override {
      device_.run(time_of_product);
      const auto* a = static_cast<const float*>(arguments.inputs[0]);
      const auto* b = static_cast<const float*>(arguments.inputs[1]);
      auto* y = static_cast<float*>(arguments.outputs[0]);
      for (std::int64_t m = 0; m < side; ++m)
        for (std::int64_t n = 0; n < side; ++n) {
          float sum = 0;
          for (std::int64_t k = 0; k < side; ++k) sum += a[m * side + k] * b[k * side + n];
          y[m * side + n] = sum;
        }
    }
    FakeDevice& device_;
  };

  std::shared_ptr<FakeDevice> device_;
};

}  // namespace

TEST_CASE("products are asked for the layers' types, on a device also for those of its matrix units") {
  using enum DataType;
  const std::vector<Wanted> wanted{{.layer = op::MatMul{.a = {4, 4}, .b = {4, 4}}},
                                   {.layer = op::MatMul{.type = f64, .a = {4, 4}, .b = {4, 4}}},
                                   {.layer = op::Unary{.type = i8, .fn = ElementwiseFn::relu, .x = {4}}}};
  CHECK(product_types(wanted, false) == std::set{f64});
  CHECK(product_types(wanted, true) == std::set{f64, f16, bf16, tf32});
}

TEST_CASE("a product gives a device the peak of a type that it had none of, once") {
  const auto device = std::make_shared<FakeDevice>();
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<Multiplier>(device)};
  DeviceHost host(*device);
  MeasureOptions options{.budget = {3}};
  const auto rows = product_peaks(host, {DataType::f16, DataType::tf32}, side, backends, options, 1);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].quantity == CeilingQuantity::peak(DataType::tf32));
  CHECK(rows[0].threads == 1);
  CHECK(rows[0].value == Approx(819.2e6).epsilon(0.02));
  options.ceilings = rows;
  CHECK(product_peaks(host, {DataType::tf32}, side, backends, options, 1).empty());
}

TEST_CASE("a product that ran below the highest clock gives the peak of the highest") {
  const auto device = std::make_shared<FakeDevice>();
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<Multiplier>(device)};
  DeviceHost host(*device);
  const MeasureOptions options{.budget = {3}};
  device->clock = 1.2e9;
  const auto peak = [&](double highest_clock_hz) {
    const auto rows = product_peaks(host, {DataType::tf32}, side, backends, options, 1, highest_clock_hz);
    REQUIRE(rows.size() == 1);
    return rows[0].value;
  };
  // 819.2 MFLOP/s at 1.2 GHz are 0.6827 FLOPs per cycle, and 1228.8 MFLOP/s at 1.8 GHz.
  CHECK(peak(1.8e9) == Approx(1228.8e6).epsilon(0.02));
  CHECK(peak(0) == Approx(819.2e6).epsilon(0.02));
  device->least_clock_time = 1e3;  // the device does not report the clock at which it ran
  CHECK(peak(1.8e9) == Approx(819.2e6).epsilon(0.02));
}
