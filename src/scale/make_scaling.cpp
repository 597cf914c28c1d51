// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/scale/make_iteration_inl.hpp>
#include <benanza/impl/scale/make_scaling_inl.hpp>
