// Registers the rows of every family and runs them. `--help` lists the flags.
#include "suite.hpp"

// @declarations@

int main(int argc, char** argv) {
  return run_suite(argc, argv, [] {
    // @adds@
  });
}
