// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/model/layer_inl.hpp>
