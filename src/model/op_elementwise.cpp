// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/op/elementwise_expression_inl.hpp>
#include <benanza/impl/op/elementwise_gradient_inl.hpp>
#include <benanza/impl/op/elementwise_inl.hpp>
#include <benanza/impl/op/loss_inl.hpp>
#include <benanza/impl/op/normalization_gradient_inl.hpp>
#include <benanza/impl/op/normalization_inl.hpp>
#include <benanza/impl/op/optimizer_inl.hpp>
#include <benanza/impl/op/pooling_inl.hpp>
#include <benanza/impl/op/quantization_inl.hpp>
#include <benanza/impl/op/reduction_inl.hpp>
#include <benanza/impl/op/trees_inl.hpp>
