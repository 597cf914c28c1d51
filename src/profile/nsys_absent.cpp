// SPDX-License-Identifier: Apache-2.0
// Replaces nsys.cpp in a build without SQLite.
#include "reader.hpp"
#include <benanza/error.hpp>

namespace benanza::profile {

namespace {

bool sniff_nsys(std::string_view head) { return head.starts_with("SQLite format 3"); }

EngineProfile read_nsys(Source& source, const ProfileOptions&) {
  throw EnvironmentError(source.path().string() +
                         ": an SQLite export of Nsight Systems, but this Benanza was built without SQLite "
                         "(libsqlite3-dev)");
}

}  // namespace

const Reader nsys{"Nsight Systems SQLite export", sniff_nsys, read_nsys};

}  // namespace benanza::profile
