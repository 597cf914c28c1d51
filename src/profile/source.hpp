// SPDX-License-Identifier: Apache-2.0
// The readers of files, which results share with profiles.
#pragma once

#include <benanza/results/detail/event_stream.hpp>
#include <benanza/results/detail/source.hpp>

namespace benanza::profile {

using results::EventStream;
using results::Lines;
using results::Source;
using results::Unreadable;

}  // namespace benanza::profile
