// SPDX-License-Identifier: Apache-2.0
// Printed totals of 2019 are of a target of their own, which an assertion of latency does not need.
#include <benanza/original2019/totals.hpp>

int main() {
  const benanza::original2019::Total total = benanza::original2019::parse_variant("serial_fused_latency_float16");
  return total.fused && !total.parallel && total.type == benanza::DataType::f16 ? 0 : 1;
}
