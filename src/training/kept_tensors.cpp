// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/training/kept_tensors_inl.hpp>
