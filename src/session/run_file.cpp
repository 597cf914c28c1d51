// SPDX-License-Identifier: Apache-2.0
#include "run_file.hpp"

#include <benanza/results/whole_file.hpp>

#include <system_error>
#include <utility>

namespace benanza {

RunFile::RunFile(std::string name, std::filesystem::path folder) : name_(std::move(name)), folder_(std::move(folder)) {
  const std::filesystem::path probe = write_new(folder_, "writable", ".probe", "\n");
  std::error_code none;
  std::filesystem::remove(probe, none);
}

void RunFile::keep(Run so_far, const std::set<std::string>& selected) {
  std::erase_if(so_far.rows, [&](const Measurement& row) { return !selected.contains(row.signature); });
  for (auto& row : so_far.rows) row.rounds_s.clear();
  write(std::move(so_far));
}

void RunFile::write(Run run) {
  run.name = name_;
  if (!file_.empty()) return write_run(run, file_);
  ResultDatabase fresh;
  fresh.append(std::move(run), folder_);
  file_ = fresh.runs().front().file;
}

}  // namespace benanza
