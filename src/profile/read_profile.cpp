// SPDX-License-Identifier: Apache-2.0
// read_profile: asks each format whether a file belongs to it, reads the files, and joins what they say about one run.
#include "reader.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace benanza {

namespace {

using namespace profile;

/// The only list of formats, in the order in which they are asked.
constexpr std::array<const Reader*, 17> readers{
    &onnxruntime,      &kineto,      &trtexec_profile,    &trtexec_times, &trtexec_layers, &openvino_json,
    &google_benchmark, &trtexec_log, &openvino_counters,  &openvino_text, &onednn_verbose, &nsys,
    &cudnn_log,        &cublas_log,  &cudnn_frontend_log, &cublaslt_log,  &layer_csv,
};

std::string known_formats() {
  std::string names;
  for (const Reader* reader : readers) names += (names.empty() ? "" : ", ") + std::string(reader->format);
  return names;
}

const Reader& reader_of(const Source& source) {
  std::string_view head = source.head();
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  head.remove_prefix(std::min(head.find_first_not_of("\r\n"), head.size()));
  if (head.empty()) source.fail(0, "the file is empty");
  for (const Reader* reader : readers)
    if (reader->sniff(head)) return *reader;
  source.fail(0, "a profile of no known format; known are: " + known_formats());
}

bool has_times(const EngineProfile& profile) {
  return std::any_of(profile.records.begin(), profile.records.end(),
                     [](const ProfileRecord& record) { return !record.times.empty(); });
}

/// Says what the file lacks, and refuses it if that is everything.
EngineProfile read_leniently(const Reader& reader, Source& source, const ProfileOptions& options) {
  const auto with_reason = [&source](const std::string& what) {
    return InputError(what == source.first_left_out() ? what : what + "; " + source.first_left_out());
  };
  EngineProfile part;
  try {
    part = reader.read(source, options);
  } catch (const InputError& error) {
    if (source.left_out() == 0) throw;
    throw with_reason(error.what());
  }
  if (source.left_out() > 0 && part.records.empty() && part.latencies.empty() && part.calls.empty())
    throw InputError(source.first_left_out());
  if (has_times(part)) part.unreadable = source.lacking();
  for (std::string& warning : source.warnings()) part.warnings.push_back(std::move(warning));
  return part;
}

/// Adds what a file says about layers whose times come from another file.
void describe(ProfileRecord& record, ProfileRecord&& more) {
  if (record.op.empty()) record.op = std::move(more.op);
  if (!more.nodes.empty()) record.nodes = std::move(more.nodes);
  if (record.algorithm.empty()) record.algorithm = std::move(more.algorithm);
  if (record.provider.empty()) record.provider = std::move(more.provider);
  if (record.inputs.empty()) record.inputs = std::move(more.inputs);
  if (record.outputs.empty()) record.outputs = std::move(more.outputs);
  if (record.activity == Activity::layer) record.activity = more.activity;
  if (record.lane == 0) record.lane = more.lane;
}

class Joiner {
 public:
  void add(EngineProfile part) {
    const std::string file = made_.files.back();
    if (!part.engine.empty()) {
      if (!made_.engine.empty() && made_.engine != part.engine)
        throw InputError(file + ": of " + part.engine + ", but '" + engine_file_ + "' is of " + made_.engine +
                         ": expected the files of one run");
      made_.engine = part.engine;
      engine_file_ = file;
    }
    made_.format += (made_.format.empty() ? "" : " and ") + part.format;
    take(made_.version, part.version);
    take(made_.device, part.device);
    if (!made_.threads) made_.threads = part.threads;
    take(made_.total_only, part.total_only);
    add_latencies(part, file);
    add_records(std::move(part), file);
  }

  EngineProfile finish() {
    add_descriptions();
    if (made_.records.empty() && made_.latencies.empty() && !made_.calls.empty() && made_.total_only.empty())
      made_.total_only = "an API log has no times: also give a trace of the same run, or the latency";
    made_.latencies_apart = !latency_file_.empty() && !timed_file_.empty() && latency_file_ != timed_file_;
    return std::move(made_);
  }

  std::vector<std::string>& files() { return made_.files; }

 private:
  static void take(std::string& to, std::string& from) {
    if (to.empty()) to = std::move(from);
  }

  /// A file that only has latencies is preferred: timing the layers makes the whole pass longer.
  void add_latencies(EngineProfile& part, const std::string& file) {
    if (part.latencies.empty()) return;
    const bool alone = !has_times(part);
    if (!made_.latencies.empty()) {
      if (alone == alone_)
        throw InputError(file + ": has latencies, and so has '" + latency_file_ + "': expected one file with them");
      made_.warnings.push_back("latencies are those of " + (alone ? file : latency_file_) + ", not of " +
                               (alone ? latency_file_ : file) + ", which was timed layer by layer");
      if (!alone) return;
    }
    made_.latencies = std::move(part.latencies);
    made_.warm_ups = part.warm_ups;
    alone_ = alone;
    latency_file_ = file;
  }

  void add_records(EngineProfile part, const std::string& file) {
    if (has_times(part)) {
      if (!timed_file_.empty())
        throw InputError(file + ": has times of layers, and so has '" + timed_file_ + "': expected one file with them");
      timed_file_ = file;
      made_.records = std::move(part.records);
      made_.between = std::move(part.between);
      made_.unreadable = part.unreadable;
      if (made_.latencies.empty() || latency_file_ == file) made_.warm_ups = part.warm_ups;
    } else {
      std::move(part.records.begin(), part.records.end(), std::back_inserter(descriptions_));
    }
    std::move(part.calls.begin(), part.calls.end(), std::back_inserter(made_.calls));
    std::move(part.warnings.begin(), part.warnings.end(), std::back_inserter(made_.warnings));
  }

  void add_descriptions() {
    if (timed_file_.empty()) {
      made_.records = std::move(descriptions_);
      if (!made_.records.empty() && made_.total_only.empty())
        made_.total_only = "the files name layers, but no times of them";
      return;
    }
    std::unordered_map<std::string, std::vector<std::size_t>> by_name;  // only looked up, never iterated
    for (std::size_t i = 0; i < descriptions_.size(); ++i) by_name[descriptions_[i].name].push_back(i);
    std::size_t joined = 0;
    for (ProfileRecord& record : made_.records) {
      const auto found = by_name.find(record.name);
      if (found == by_name.end() || found->second.empty()) continue;
      describe(record, std::move(descriptions_[found->second.front()]));
      found->second.erase(found->second.begin());  // layers of equal names are distinguished by their order
      ++joined;
    }
    if (joined < descriptions_.size())
      made_.warnings.push_back(std::to_string(descriptions_.size() - joined) + " of " +
                               std::to_string(descriptions_.size()) + " described layers have no time in '" +
                               timed_file_ + "'");
  }

  EngineProfile made_{};
  std::vector<ProfileRecord> descriptions_{};
  std::string engine_file_{}, latency_file_{}, timed_file_{};
  bool alone_ = false;
};

}  // namespace

EngineProfile read_profile(std::span<const std::filesystem::path> files, const ProfileOptions& options) {
  if (files.empty()) throw UsageError("no profile was given");
  Joiner joiner;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Source source(files[i], i);
    joiner.files().push_back(files[i].string());
    const Reader& reader = reader_of(source);
    EngineProfile part = read_leniently(reader, source, options);
    part.format = reader.format;
    joiner.add(std::move(part));
  }
  return joiner.finish();
}

}  // namespace benanza
