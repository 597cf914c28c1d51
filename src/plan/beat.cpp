// SPDX-License-Identifier: Apache-2.0
#include <benanza/plan/beat.hpp>

#include <utility>

namespace benanza {

namespace {

std::function<void()>& listener_now() {
  static std::function<void()> listener;
  return listener;
}

}  // namespace

void beat() {
  if (const auto& listener = listener_now()) listener();
}

BeatListener::BeatListener(std::function<void()> listener) { listener_now() = std::move(listener); }
BeatListener::~BeatListener() { listener_now() = nullptr; }

}  // namespace benanza
