// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/operators/lookup_inl.hpp>
