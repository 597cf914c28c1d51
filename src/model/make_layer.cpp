// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/model/make_layer_inl.hpp>
