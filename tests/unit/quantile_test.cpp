// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/base/detail/quantile.hpp>

#include <limits>

using namespace benanza::detail;

TEST_CASE("quantiles lie between order statistics as R's type 7 puts them") {
  // R: quantile(c(1, 2, 4, 8, 16), c(0, .1, .25, .5, .9, 1)) gives 1.0 1.4 2.0 4.0 12.8 16.0
  const std::vector<double> values{16, 1, 8, 2, 4};
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 0.1) == Approx(1.4));
  CHECK(quantile(values, 0.25) == Approx(2));
  CHECK(quantile(values, 0.5) == Approx(4));
  CHECK(quantile(values, 0.9) == Approx(12.8));
  CHECK(quantile(values, 1) == 16);
  CHECK(quantile(std::vector<double>{7}, 0.1) == 7);
  CHECK(std::isnan(quantile(std::vector<double>{}, 0.5)));
}

TEST_CASE("values that are not numbers do not count") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(quantile(std::vector<double>{nan, 3, nan, 1}, 0.5) == 2);
  CHECK(coefficient_of_variation(std::vector<double>{nan, 5}) == 0);
  // mean 3, squared deviations 4 + 0 + 4, over n - 1 = 2: standard deviation 2
  CHECK(coefficient_of_variation(std::vector<double>{1, nan, 3, 5}) == Approx(2.0 / 3));
}

TEST_CASE("the uncertainty is half the range of the groups' statistics") {
  // medians 1, 2 of two groups; median of all 1.5
  CHECK(group_uncertainty(std::vector<double>{1, 1, 2, 2}, 0.5, 2) == Approx(0.5 / 1.5));
  CHECK(group_uncertainty(std::vector<double>{1, 1, 1, 1}, 0.1, 4) == 0);
  CHECK(std::isinf(group_uncertainty(std::vector<double>{1, 1}, 0.1, 4)));
}
