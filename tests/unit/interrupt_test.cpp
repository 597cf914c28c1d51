// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/isolation/interrupt.hpp>

#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using benanza::isolation::InterruptWatch;

bool is_blocked(int signal = SIGINT) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

void await(const InterruptWatch& watch) {
  while (!watch.interrupted()) std::this_thread::yield();
}

/// How a child process that runs `body` ends.
template <class Body>
int end_of(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("an interrupt is noted, and reaches no thread that measures") {
  {
    const InterruptWatch watch;
    bool inherited = false;
    std::thread([&] { inherited = is_blocked(); }).join();
    CHECK(is_blocked());
    CHECK(inherited);
    CHECK_FALSE(watch.interrupted());
    CHECK(watch.exit_code() == 0);
    kill(getpid(), SIGINT);
    await(watch);
    CHECK(watch.exit_code() == 130);
  }
  CHECK_FALSE(is_blocked());
}

TEST_CASE("a time limit and a closed terminal are interrupts too, be they sent twice") {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const int status = end_of([signal] {
      std::signal(signal, SIG_DFL);  // nohup may have started the tests
      const InterruptWatch watch;
      kill(getpid(), signal);
      await(watch);
      kill(getpid(), signal);
      std::_Exit(watch.exit_code());
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + signal);  // the convention of shells
  }
}

TEST_CASE("a signal that is ignored stays so") {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const InterruptWatch watch;
    CHECK(is_blocked(SIGTERM));
    CHECK_FALSE(is_blocked(SIGHUP));
  }
  std::signal(SIGHUP, before);
}

TEST_CASE("a watch that saw nothing ends, and the next one begins afresh") {
  for (int i = 0; i < 3; ++i) {
    const InterruptWatch watch;
    CHECK_FALSE(watch.interrupted());
  }
}

TEST_CASE("the second interrupt ends the process") {
  const int status = end_of([] {
    const InterruptWatch watch;
    kill(getpid(), SIGINT);
    await(watch);
    kill(getpid(), SIGINT);
    for (;;) pause();
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

TEST_CASE("without a watch an interrupt ends the process as usual, also after one") {
  const int status = end_of([] {
    { const InterruptWatch watch; }
    std::raise(SIGINT);
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}
