// SPDX-License-Identifier: Apache-2.0
// Fusion: patterns, the default ones, and `fuse`, which applies them to a LayerGraph.
#pragma once

#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
