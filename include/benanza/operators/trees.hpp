// SPDX-License-Identifier: Apache-2.0
// Decision trees and other classical models.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts trees_operators[] = {
    {.domain = classic, .type = "LinearClassifier", .inputs = {data}},
    {.domain = classic, .type = "LinearRegressor", .inputs = {data}},
    {.domain = classic, .type = "SVMClassifier", .inputs = {data}},
    {.domain = classic, .type = "SVMRegressor", .inputs = {data}},
    {.domain = classic, .type = "TreeEnsemble", .inputs = {chosen, data}},
    {.domain = classic, .type = "TreeEnsembleClassifier", .inputs = {chosen, data}},
    {.domain = classic, .type = "TreeEnsembleRegressor", .inputs = {chosen, data}},
};

}  // namespace benanza::operators
