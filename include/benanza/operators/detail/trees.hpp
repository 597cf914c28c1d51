// SPDX-License-Identifier: Apache-2.0
// Decision trees and other classical models.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts trees_operators[] = {
    {.domain = classic, .type = "LinearClassifier", .inputs = {data}},
    {.domain = classic, .type = "LinearRegressor", .shape = ShapeRule::linear_regressor, .inputs = {data}},
    {.domain = classic, .type = "SVMClassifier", .shape = ShapeRule::vector_classifier, .inputs = {data}},
    {.domain = classic, .type = "SVMRegressor", .shape = ShapeRule::one_target, .inputs = {data}},
    {.domain = classic, .type = "TreeEnsemble", .shape = ShapeRule::tree_ensemble, .inputs = {chosen, data}},
    {.domain = classic,
     .type = "TreeEnsembleClassifier",
     .shape = ShapeRule::tree_classifier,
     .inputs = {chosen, data}},
    {.domain = classic, .type = "TreeEnsembleRegressor", .shape = ShapeRule::tree_regressor, .inputs = {chosen, data}},
};

}  // namespace benanza::operators
