// SPDX-License-Identifier: Apache-2.0
// The main function of the test programs. Version 3 of Catch2 brings its own in a library, which need not be linked
// then.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
