// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/fusion/fuse_inl.hpp>
#include <benanza/impl/fusion/model_layers_inl.hpp>
