// SPDX-License-Identifier: Apache-2.0
#include "supervised.hpp"
#include "surroundings.hpp"
#include "worker.hpp"
#include <benanza/error.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/plan/choose_backends.hpp>

#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <utility>

namespace benanza::isolation {

namespace {

/// `measure`, but it announces what it tries and gives up if the device is lost.
Run measure_request(Supervised& supervised, Request request, measure::Backends all, const MakeFilter& make_filter,
                    std::stop_token stop) {
  const auto backends = choose_backends(all, request.backends);
  measure::MeasureOptions options = std::move(request.options);
  if (make_filter && !request.filter.empty()) options.accept = make_filter(request.filter);
  options.trying = [&](std::string_view row) { supervised.trying(row); };
  options.progress = [&](const measure::Progress& progress) { supervised.show(progress); };
  options.keep = [&](const Run& run) { supervised.keep(run); };
  options.keep_failed = [&](std::string_view reason) { supervised.not_kept(reason); };
  options.stop = std::move(stop);
  try {
    Run run = measure::measure(request.layers, backends, options);
    supervised.trying({});
    return run;
  } catch (const DeviceLost& lost) {
    supervised.give_up(std::string("lost the device: ") + lost.what());
  }
}

}  // namespace

int serve_worker(const std::filesystem::path& folder, measure::Backends all, const MakeFilter& make_filter) {
  std::optional<Supervised> supervised;
  const auto failed = [&](const char* error, int code) {
    if (supervised) supervised->failed(error);
    else std::fprintf(stderr, "%s\n", error);
    return code;
  };
  try {
    const InterruptWatch interrupt(SecondInterrupt::is_ignored);
    supervised.emplace(folder);
    Request request = read_request(folder);
    if (request.measures) {
      Run run = measure_request(*supervised, std::move(request), all, make_filter, interrupt.stop_token());
      if (const int nice = getpriority(PRIO_PROCESS, 0); nice != 0) run.machine.state["nice"] = std::to_string(nice);
      write_run(run, run_of(folder));
    } else {
      write_surroundings(surroundings_of(all, request.backends), folder);
    }
    supervised->finished();
    return 0;
  } catch (const UsageError& error) {
    return failed(error.what(), 2);
  } catch (const InputError& error) {
    return failed(error.what(), 1);
  } catch (const std::bad_alloc&) {
    return failed("out of memory", 5);
  } catch (const std::exception& error) {
    return failed(error.what(), 5);
  }
}

}  // namespace benanza::isolation
