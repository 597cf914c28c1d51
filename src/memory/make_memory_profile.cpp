// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/memory/make_memory_profile_inl.hpp>
