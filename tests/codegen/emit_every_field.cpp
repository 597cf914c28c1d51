// SPDX-License-Identifier: Apache-2.0
#include "codegen/every_field.hpp"

#include <fstream>

int main(int argc, char** argv) {
  std::ofstream out(argc > 1 ? argv[1] : "/dev/stdout");
  benanza::emit_suite(every_field::source(), out);
  return out.flush() ? 0 : 1;
}
