// SPDX-License-Identifier: Apache-2.0
// The precompiled header of the tests belongs to a target, and a target has a source.
#include "support/catch.hpp"
