// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/model/layer_graph_bytes_inl.hpp>
#include <benanza/impl/model/layer_graph_inl.hpp>
#include <benanza/impl/model/layer_graph_loops_inl.hpp>
#include <benanza/impl/model/layer_graph_rereads_inl.hpp>
