// SPDX-License-Identifier: Apache-2.0
// Resizing, grids and regions of images.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts sampling_operators[] = {
    {.type = "AffineGrid", .inputs = {data, target, data}},
    {.type = "GridSample",
     .inputs = {chosen, places, data},
     .ranks = {{{0, 2, 0}, {1, 2, 0}}},
     .demand = Demand::grid_samples,
     .gradient = Gradient::grid_sample,
     .differentiable = 2},
    {.type = "Resize",
     .inputs = {chosen, target, target, target, data},
     .traits = {makes_known},
     .demand = Demand::resize,
     .gradient = Gradient::resize,
     .differentiable = 1},
    {.type = "RoiAlign",
     .inputs = {chosen, places, data},
     .demand = Demand::box_samples,
     .gradient = Gradient::roi_align,
     .differentiable = 1},
    {.type = "Upsample",
     .inputs = {chosen, target, data},
     .traits = {makes_known},
     .demand = Demand::resize,
     .gradient = Gradient::resize,
     .differentiable = 1},
    {.domain = own, .type = "GridSampleGrad", .inputs = {data}},
    {.domain = own, .type = "ResizeGrad", .inputs = {data}},
    {.domain = microsoft,
     .type = "CropAndResize",
     .shape = ShapeRule::crop_and_resize,
     .inputs = {chosen, data, data, chosen, data}},
    {.domain = microsoft, .type = "GridSample", .shape = ShapeRule::grid_sample, .inputs = {chosen, data}},
    {.domain = microsoft, .type = "ResizeGrad", .shape = ShapeRule::like_second, .inputs = {data}},
    {.domain = nchwc, .type = "Upsample", .shape = ShapeRule::upsample, .inputs = {data}},
};

}  // namespace benanza::operators
