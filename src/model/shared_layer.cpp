// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/model/detail/layer_pool_inl.hpp>
#include <benanza/impl/model/shared_layer_inl.hpp>
