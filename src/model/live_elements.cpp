// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/model/detail/constant_origins_inl.hpp>
#include <benanza/impl/model/detail/live_elements_inl.hpp>
