// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/bounds/analyze_inl.hpp>
