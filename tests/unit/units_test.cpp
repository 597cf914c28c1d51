// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/model/units.hpp>

#include <type_traits>

using namespace benanza;
using namespace benanza::literals;

TEST_CASE("literals and helpers mean what their unit says") {
  CHECK((12.5_ms).value == Approx(0.0125));
  CHECK((12_ms).value == Approx(0.012));
  CHECK((3_us).value == Approx(3e-6));
  CHECK((1.5_s).value == 1.5);
  CHECK(nanoseconds(250).value == Approx(2.5e-7));
  CHECK(milliseconds(2).value == Approx(2e-3));
}

TEST_CASE("bytes over bandwidth and FLOPs over peak are times, a quotient of equals is a number") {
  static_assert(std::is_same_v<decltype(Bytes{} / BytesPerSecond{1}), Seconds>);
  static_assert(std::is_same_v<decltype(Flops{} / FlopsPerSecond{1}), Seconds>);
  static_assert(std::is_same_v<decltype(1_ms / 2_ms), double>);
  CHECK((Bytes{10e9} / BytesPerSecond{20e9}).value == 0.5);
  CHECK((Flops{4e9} / FlopsPerSecond{1e12}).value == Approx(4e-3));
  CHECK(1_ms / 2_ms == Approx(0.5));
}

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

TEST_CASE("quantities of different units do not mix") {
  static_assert(Addable<Seconds, Seconds> && !Addable<Seconds, Bytes> && !Addable<Flops, Bytes> &&
                !Addable<Seconds, double>);
  static_assert(!std::is_convertible_v<double, Seconds> && !std::is_convertible_v<Bytes, Flops>);
  CHECK(1_ms + 2_ms > 2.5_ms);
  CHECK((4_ms - 1_ms) * 2 < 6.5_ms);
}
