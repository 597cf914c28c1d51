// SPDX-License-Identifier: Apache-2.0
// Everything that benanza::analyzer offers.
#pragma once

#include <benanza/bounds/analyze.hpp>
#include <benanza/bounds/make_schedule.hpp>
#include <benanza/bounds/make_sweeps.hpp>
#include <benanza/bounds/model_diff.hpp>
#include <benanza/bounds/unit_shares.hpp>
#include <benanza/bounds/witness.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/model/composed_attention.hpp>
#include <benanza/model/counted_layers.hpp>
#include <benanza/model/quantization.hpp>
#include <benanza/model/retype.hpp>
#include <benanza/model/suite.hpp>
#include <benanza/model/unit_height.hpp>
#include <benanza/onnx.hpp>
#include <benanza/onnx/node_graph.hpp>
#include <benanza/onnx/stored_tensors.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/profile/kernel_class.hpp>
#include <benanza/profile/recorder.hpp>
#include <benanza/results/ceiling_rows.hpp>
#include <benanza/results/csv_table.hpp>
#include <benanza/results/device_record.hpp>
#include <benanza/results/latencies.hpp>
#include <benanza/results/machine_file.hpp>
#include <benanza/results/measuring_time.hpp>
#include <benanza/results/result_check.hpp>
#include <benanza/results/result_merge.hpp>
#include <benanza/results/whole_file.hpp>
#include <benanza/version.hpp>
