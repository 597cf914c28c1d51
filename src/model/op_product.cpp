// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/op/attention_inl.hpp>
#include <benanza/impl/op/convolution_gradient_inl.hpp>
#include <benanza/impl/op/convolution_inl.hpp>
#include <benanza/impl/op/product_inl.hpp>
#include <benanza/impl/op/recurrent_inl.hpp>
#include <benanza/impl/op/transform_inl.hpp>
