// SPDX-License-Identifier: Apache-2.0
// Everything that benanza::analyzer offers, with the recorder.
#pragma once

#include <benanza/bounds/analyze.hpp>
#include <benanza/bounds/bound.hpp>
#include <benanza/bounds/make_schedule.hpp>
#include <benanza/bounds/make_sweeps.hpp>
#include <benanza/error.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/model/layer_set.hpp>
#include <benanza/model/retype.hpp>
#include <benanza/onnx.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/profile/recorder.hpp>
#include <benanza/results/results.hpp>
#include <benanza/version.hpp>
