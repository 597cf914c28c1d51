// SPDX-License-Identifier: Apache-2.0
#include <benanza/isolation/interrupt.hpp>

namespace benanza::bench {

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

InterruptWatch::InterruptWatch() : thread_([this] { watch(); }) {}

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
    } else if (taken == SIGINT) {
      std::signal(SIGINT, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      std::raise(SIGINT);
    }
  }
}

}  // namespace benanza::bench
