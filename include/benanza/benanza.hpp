// SPDX-License-Identifier: Apache-2.0
// Everything that benanza::analyzer offers, with the recorder.
#pragma once

#include <benanza/analysis.hpp>
#include <benanza/bound.hpp>
#include <benanza/engine_profile.hpp>
#include <benanza/error.hpp>
#include <benanza/gap.hpp>
#include <benanza/layer_set.hpp>
#include <benanza/model_layers.hpp>
#include <benanza/onnx.hpp>
#include <benanza/recorder.hpp>
#include <benanza/results.hpp>
#include <benanza/retype.hpp>
#include <benanza/schedule.hpp>
#include <benanza/sweep.hpp>
#include <benanza/version.hpp>
