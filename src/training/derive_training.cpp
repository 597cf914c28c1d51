// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/training/derive_training_inl.hpp>
