// SPDX-License-Identifier: Apache-2.0
// Errors form one family. Broken input or a failed call throws; expected absence is data (`Unsupported`, `Coverage`),
// never an exception.
#pragma once

#include <stdexcept>

namespace benanza {

/// Base of everything that Benanza throws. `what()` is one line: where, what was found, what was expected.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The input is broken: a model, a result file, a signature, a profile. Exit code 1 of the program.
struct InputError : Error {
  using Error::Error;
};

/// The call is wrong: an unknown option, name or value. Exit code 2.
struct UsageError : Error {
  using Error::Error;
};

/// The environment failed: an output that cannot be written, a full disk, an error status of a library call. Exit code
/// 5.
struct EnvironmentError : Error {
  using Error::Error;
};

}  // namespace benanza
