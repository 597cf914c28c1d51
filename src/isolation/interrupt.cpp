// SPDX-License-Identifier: Apache-2.0
#include <benanza/isolation/interrupt.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace benanza::isolation {

namespace {

/// All that live, in the order in which they began.
struct AllLastWords {
  std::mutex mutex{};
  std::vector<const std::function<void()>*> words{};
};
AllLastWords& all_last_words() {
  static AllLastWords all;
  return all;
}

void say_last_words() {
  AllLastWords& all = all_last_words();
  all.mutex.lock();  // for good: the process ends
  for (const auto* words : all.words) try {
      (*words)();
    } catch (const std::exception&) {
      // The process ends; whoever asked for that twice does not wait for reasons.
    }
}

}  // namespace

LastWords::LastWords(std::function<void()> words) : words_(std::move(words)) {
  const std::scoped_lock lock(all_last_words().mutex);
  all_last_words().words.push_back(&words_);
}

LastWords::~LastWords() {
  const std::scoped_lock lock(all_last_words().mutex);
  std::erase(all_last_words().words, &words_);
}

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  for (const int signal : {SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

InterruptWatch::Block::Block() {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

InterruptWatch::Block::~Block() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

InterruptWatch::InterruptWatch(SecondInterrupt second) : second_(second), thread_([this] { watch(); }) {}

InterruptWatch::~InterruptWatch() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);
  thread_.join();
}

void InterruptWatch::watch() {
  const sigset_t set = interrupts();
  for (int taken = 0;;) {
    sigwait(&set, &taken);
    if (ending_) return;
    if (!interrupted()) {
      signal_ = taken;
      stop_.request_stop();
    } else if (taken == SIGINT && second_ == SecondInterrupt::ends_process) {
      say_last_words();
      std::signal(SIGINT, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      std::raise(SIGINT);
    }
  }
}

}  // namespace benanza::isolation
