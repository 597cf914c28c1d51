// SPDX-License-Identifier: Apache-2.0
// The main function of the test programs. Version 3 of Catch2 has its own main function in a library, which then need
// not be linked.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
