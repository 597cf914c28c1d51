// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/fusion/default_patterns_inl.hpp>
