// SPDX-License-Identifier: Apache-2.0
// Where generated suites of earlier versions find Backend and Plan.
#pragma once

#include <benanza/plan/backend.hpp>
