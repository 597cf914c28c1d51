// SPDX-License-Identifier: Apache-2.0
// timer_study [--json FILE] [--idle SECONDS]: whether the methods of timing this machine's GPU agree (timer_study.hpp).
// It takes about two minutes, most of it idling. Exit codes: 0; 77 without a device that it could study, with the
// reason; 2 for a wrong command line; 5 if the device is lost, after writing the rows so far.
#include "timer_study.hpp"
#include <benanza/backend/cublas.hpp>
#include <benanza/backend/cuda.hpp>
#include <benanza/backend/cudnn.hpp>
#include <benanza/base/detail/duration.hpp>
#include <benanza/error.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace benanza;

constexpr int no_device = 77;

int study(const std::string& json, Seconds idle) {
  std::vector<std::shared_ptr<const Backend>> backends;
  std::string reason;
  for (const auto& backend : {cublas::backend(), cudnn::backend(), cuda::backend()}) {
    const auto state = backend->availability();
    if (const auto* why = std::get_if<Unsupported>(&state))
      std::cerr << (reason = std::string(backend->name()) + " is not available: " + why->reason) << '\n';
    else backends.push_back(backend);
  }
  if (const auto state = cuda::backend()->availability(); std::holds_alternative<Unsupported>(state)) return no_device;
  const auto device = backends.back()->device();
  const auto pause = [](Seconds time) { std::this_thread::sleep_for(std::chrono::duration<double>(time.value)); };
  benchmarks::TimerStudy study(*device, backends, {.idle = idle, .pause = pause});
  std::vector<benchmarks::StudyRow> rows;
  int code = 0;
  try {
    study.run(benchmarks::studied_layers(), rows);
  } catch (const DeviceLost& lost) {
    std::cerr << "the device is lost: " << lost.what() << '\n';
    code = 5;
  }
  benchmarks::write_table(std::cout, device->machine(), study.floors(), rows);
  std::cout.flush();
  if (!json.empty()) {
    std::ofstream file(json);
    benchmarks::write_json(file, device->machine(), study.floors(), rows);
    if (!file.flush()) throw EnvironmentError("cannot write " + json);
  }
  if (code != 0) std::_Exit(code);  // a library that has lost its device may wait for it forever
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string json;
  Seconds idle{2};
  try {
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
      const bool has_value = i + 1 < arguments.size();
      if (has_value && arguments[i] == "--json") json = arguments[i + 1];
      else if (has_value && arguments[i] == "--idle") idle = detail::parse_duration(arguments[i + 1]);
      else throw UsageError("usage: timer_study [--json FILE] [--idle 2s]");
    }
    return study(json, idle);
  } catch (const UsageError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 5;
  }
}
