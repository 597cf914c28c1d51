// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/op/detail/resize_axis_inl.hpp>
#include <benanza/impl/op/generation_inl.hpp>
#include <benanza/impl/op/indexing_inl.hpp>
#include <benanza/impl/op/indexing_scatter_inl.hpp>
#include <benanza/impl/op/movement_inl.hpp>
#include <benanza/impl/op/movement_parts_inl.hpp>
#include <benanza/impl/op/opaque_inl.hpp>
#include <benanza/impl/op/sampling_inl.hpp>
