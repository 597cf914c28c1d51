// SPDX-License-Identifier: Apache-2.0
// read_run: row by row with simdjson's on-demand reader; nothing is kept except the rows themselves.
#include "json_value.hpp"
#include "row_fault.hpp"
#include "row_fields.hpp"
#include "row_name.hpp"
#include "run_context.hpp"
#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/limits.hpp>
#include <benanza/base/detail/quantile.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/detail/event_stream.hpp>
#include <benanza/results/results.hpp>

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace benanza {

namespace {

namespace json = simdjson::ondemand;
using results::RowFields;

constexpr std::string_view no_time = "no time was recorded";

/// JSON with '?' for each control character and, unless it is UTF-8, for each byte that is not ASCII.
simdjson::padded_string as_text(std::string_view json) {
  const bool utf8 = simdjson::validate_utf8(json.data(), json.size());
  simdjson::padded_string made(json);
  for (char* c = made.data(); c != made.data() + made.size(); ++c) {
    const auto byte = static_cast<unsigned char>(*c);
    if (byte == '\t') *c = ' ';
    else if ((byte < ' ' && byte != '\n' && byte != '\r') || (byte >= 0x80 && !utf8)) *c = '?';
  }
  return made;
}

/// simdjson ends most of its messages with a period.
std::string sentence(std::string text) { return text.ends_with('.') ? text : text + "."; }

/// An integer that fits; empty, which is not 0, for any other value.
template <class Integer>
std::optional<Integer> whole(double value, double least = 0) {
  if (!(value >= least && value <= 9e15) || value > static_cast<double>(std::numeric_limits<Integer>::max()) ||
      value != std::floor(value))
    return std::nullopt;
  return static_cast<Integer>(value);
}

std::optional<Seconds> known(double ns) { return ns != 0 ? std::optional(Seconds{ns / 1e9}) : std::nullopt; }

/// How a device timed a row, except for the launches; empty if nothing says that one did.
std::optional<DeviceTiming> device_timing(const RowFields& row) {
  DeviceTiming result{.method = std::string(row.method), .throttled = row.throttled};
  if (const auto other = known(row.other_ns))
    result.other = OtherMethod{*other, known(row.other_launch_ns).value_or(Seconds{})};
  if (row.disagreement != 0) result.disagreement = row.disagreement;
  if (const auto kernels = known(row.kernels_ns))
    result.kernels = KernelTime{*kernels, known(row.empty_kernels_ns).value_or(Seconds{})};
  if (row.clock_hz != 0) result.clock_hz = row.clock_hz;
  const bool is_known = !result.method.empty() || result.other || result.disagreement || result.kernels ||
                        result.clock_hz || result.throttled;
  return is_known ? std::optional(result) : std::nullopt;
}

/// Files leave out a difference of 0, which every row without an error has been compared for, and have null for one
/// that is not finite.
std::optional<double> difference_of(const RowFields& row) {
  if (!row.difference) return row.failed ? std::nullopt : std::optional(0.0);
  return std::isnan(*row.difference) ? std::numeric_limits<double>::infinity() : *row.difference;
}

double units_per_second(std::string_view unit) {
  if (unit == "ns") return 1e9;
  if (unit == "us") return 1e6;
  if (unit == "ms") return 1e3;
  if (unit == "s") return 1;
  throw InputError("time_unit '" + std::string(unit) + "', expected ns, us, ms or s");
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : source_(file) {}

  Run read() {
    const std::string file = source_.path().string();
    try {
      read_document();
    } catch (const simdjson::simdjson_error& error) {
      throw InputError(file + ": " + sentence(error.what()) + " Expected a whole Google Benchmark JSON file");
    } catch (const InputError& error) {
      const std::string what = error.what();
      if (what.starts_with(file)) throw InputError(sentence(what) + " Expected a whole Google Benchmark JSON file");
      throw InputError(file + row_text() + ": " + what);
    }
    for (const std::string& warning : source_.warnings()) run_.faults.push_back(warning.substr(file.size() + 2));
    run_.file = file;
    return std::move(run_);
  }

 private:
  void read_document() {
    results::EventStream stream(source_, "benchmarks");
    stream.accept_cut_object();  // of a suite that was killed
    bool context = false;
    for (auto item = stream.next(); item != results::EventStream::Item::end; item = stream.next()) {
      const std::string_view text = stream.text();
      const auto parsed = [&] {
        return parser_.iterate(text.data(), text.size(), text.size() + results::EventStream::padding);
      };
      if (item == results::EventStream::Item::event) {
        if (!context) break;
        ++row_;
        read_row(parsed, [&](const RowFields& row) {
          if (row.run_type == "aggregate") add_aggregate(row, text);
          else add(row);
        });
      } else if (stream.name() == "context") {
        json::document document;
        simdjson::padded_string cleaned;
        if (parsed().get(document) != simdjson::SUCCESS) {
          cleaned = as_text(text);
          source_.warn(stream.position(), "the context has bytes that are not valid text; each of them is read as '?'");
          document = parser_.iterate(cleaned);
        }
        read_fields(document.get_object(), stream.position());
        check_context(run_);
        context = true;
      }
    }
    add_medians();
    for (const auto& [row, fault] : results::unlike_others(run_)) leave_out(run_.rows[row], fault);
    row_ = 0;
    if (!context && !source_.warnings().empty()) throw InputError(source_.warnings().front());
    if (!context) throw InputError("no 'context' before 'benchmarks', expected one: it says how to read them");
  }

  void read_fields(json::object context, std::uint64_t position) {
    for (auto field : context) {
      std::string_view key;
      const bool named = field.unescaped_key().get(key) == simdjson::SUCCESS;
      json::value value = results::some_value(field.value());
      if (!named || !is_context_key(key)) continue;
      std::string_view quoted;
      const bool readable =
          value.type() != json::json_type::string || value.get_string().get(quoted) == simdjson::SUCCESS;
      if (readable) read_context(run_, key, quoted.data() ? quoted : results::token(value));
      else if (is_remark(key)) source_.warn(position, "'" + std::string(key) + "' in the context is not a JSON string");
      else throw InputError("'" + std::string(key) + "' in the context is not a JSON string");
    }
  }

  /// Calls `use` for the fields of one row.
  template <class Parse, class Use>
  void read_row(Parse&& parse, Use&& use) {
    for (auto* times : {&fields_.rounds_ns, &fields_.visits_ns}) times->clear();
    fields_ = {.rounds_ns = std::move(fields_.rounds_ns), .visits_ns = std::move(fields_.visits_ns)};
    try {
      json::document element = parse();
      json::object object = element.get_object();
      for (auto field : object) {
        const std::string_view key = field.unescaped_key();
        json::value value = results::some_value(field.value());
        results::read_field(fields_, key, value);
      }
      use(fields_);
    } catch (const simdjson::simdjson_error& error) {
      leave_out(sentence(error.what()));
      add_damaged(sentence(error.what()));
    } catch (const InputError& error) {
      leave_out(error.what());
      add_damaged(error.what());
    }
  }

  /// Keeps the name of a row that cannot be read, if that can: its plan may be the best.
  void add_damaged(const std::string& why) try {
    const auto name = parse_row_name(fields_.name);
    if (!name || name->backend == machine_backend || fields_.run_type == "aggregate") return;
    Measurement m = named(*name);
    m.threads = std::max(1, threads_of(name->algorithm).value_or(1));
    m.exclude(RowStatus::damaged, why);
    keep(std::move(m));
  } catch (const InputError&) {  // no signature of a layer
  }

  Measurement named(const RowName& name) {
    return {.backend = std::string(name.backend),
            .algorithm = std::string(name.algorithm),
            .has_plan = name.has_plan(),
            .cache = name.cache,
            .signature = canonical(name.what)};
  }

  /// The first row of a name counts, or the first that is not damaged.
  void keep(Measurement&& row) {
    const auto [found, is_first] = names_.try_emplace(row.name(), run_.rows.size());
    if (is_first) return run_.rows.push_back(std::move(row));
    Measurement& first = run_.rows[found->second];
    if (first.status == RowStatus::damaged && row.status != RowStatus::damaged) first = std::move(row);
    else if (row.status != RowStatus::damaged)
      run_.faults.push_back(row.name() + " is there twice: the first one counts");
  }

  void add_aggregate(const RowFields& row, std::string_view text) {
    ++run_.ignored;
    if (!row.run_name.empty()) aggregated_.try_emplace(std::string(row.run_name), row_);
    if (row.aggregate_name == "median") medians_.emplace_back(row_, text);
    if (row.aggregate_name == "cv" && std::isfinite(row.real_time))
      variation_[std::string(row.run_name)] = row.real_time;
  }

  /// Rows of a suite that wrote aggregates only (`--benchmark_report_aggregates_only`): the median of the repetitions
  /// is what there is of each time.
  void add_medians() {
    if (aggregated_.empty()) return;
    std::unordered_set<std::string> present;
    for (const auto& row : run_.rows) present.insert(row.name());
    for (const auto& ceiling : run_.ceilings) present.insert(ceiling.quantity.text() + ceiling.algorithm);
    for (const auto& [number, text] : medians_) {
      row_ = number;
      const simdjson::padded_string padded(text);
      read_row([&] { return parser_.iterate(padded); },
               [&](RowFields& row) {
                 row.name = row.run_name;
                 row.samples.reset();  // one figure shows no spread
                 row.repetitions = 1;
                 if (const auto found = variation_.find(std::string(row.run_name)); found != variation_.end())
                   row.cv = found->second;
                 aggregated_.erase(std::string(row.run_name));
                 if (present.contains(text_of(row.name))) return;
                 add(row);
                 --run_.ignored;
               });
    }
    for (const auto& [name, number] : aggregated_) try {
        row_ = number;
        if (!present.contains(text_of(name)))
          throw InputError("aggregates of '" + name + "' without their median, which is what counts");
      } catch (const InputError& error) {
        leave_out(error.what());
      }
  }

  /// What tells rows apart.
  std::string text_of(std::string_view row_name) {
    const auto name = parse_row_name(row_name);
    if (!name) return {};
    if (name->backend == machine_backend) return std::string(name->what).append(name->algorithm);
    return Measurement{.backend = std::string(name->backend),
                       .algorithm = std::string(name->algorithm),
                       .cache = name->cache,
                       .signature = canonical(name->what)}
        .name();
  }

  /// A wrong row costs only itself, not the file.
  void leave_out(const std::string& why) { run_.faults.push_back("row " + std::to_string(row_) + ": " + why); }
  void leave_out(Measurement& row, const std::string& fault) {
    run_.faults.push_back(row.name() + " " + fault);
    row.exclude(RowStatus::damaged, fault);
  }

  void add(const RowFields& row) {
    const auto name = parse_row_name(row.name);
    if (!name)
      throw InputError("'" + std::string(row.name) +
                       "', expected <backend>/<algorithm>/<cache state>/<signature>: not a row of Benanza's");
    const double scale = units_per_second(row.time_unit);
    std::string wrong = row.wrong;
    const std::optional<int> named = threads_of(name->algorithm), counted = whole<int>(row.threads, 1);
    if (!counted || named == 0) wrong = "threads is not a count";
    else if (named && *counted != 1 && *counted != *named)  // Google Benchmark's own value is 1
      wrong = "threads is " + std::to_string(*counted) + ", its name says " + std::to_string(*named);
    const int threads = std::max(1, named.value_or(counted.value_or(1)));
    if (name->backend == machine_backend) add_ceiling(row, *name, threads, scale, std::move(wrong));
    else add_measurement(row, *name, threads, scale, std::move(wrong));
  }

  void add_ceiling(const RowFields& row, const RowName& name, int threads, double scale, std::string wrong) {
    constexpr double least = 1, beyond_any = 1e18;  // FLOP/s or bytes/s of one device; bytes
    if (row.failed) return;
    const auto quantity = CeilingQuantity::parse(name.what);
    if (!quantity)
      throw InputError("'" + std::string(row.name) + "', expected Peak/<type>, Bandwidth/<memory> or Timer/<what>");
    const bool is_timer = quantity->kind == CeilingQuantity::Kind::timer;
    double value = quantity->kind == CeilingQuantity::Kind::peak ? row.flops_per_second : row.bytes_per_second;
    if (is_timer) value = row.real_time / scale;
    else if (!(value >= least && value < beyond_any))
      wrong = std::string(quantity->rate_key()) + " is not a valid rate";
    if (is_timer && !(value > 0) && wrong.empty()) wrong = no_time;
    if (is_timer && wrong.empty() && !detail::is_possible(Seconds{value}))
      wrong = "its time is not from " + std::string(detail::time_range);
    if (!(row.in_front_bytes >= 0 && row.in_front_bytes < beyond_any)) wrong = "in_front_bytes is not a count";
    if (!wrong.empty()) {
      run_.faults.push_back(std::string(row.name) + ": " + wrong);
      return;
    }
    run_.ceilings.push_back({*quantity, std::string(name.algorithm), threads, value, row.in_front_bytes});
  }

  void add_measurement(const RowFields& row, const RowName& name, int threads, double scale, std::string wrong) {
    const auto count = [&wrong](double value, std::string_view key, double least = 0) {
      const auto found = whole<std::int64_t>(value, least);
      if (!found) wrong = std::string(key) + " is not a count";
      return found.value_or(0);
    };
    Measurement m = named(name);
    if (row.repetitions > 1 && wrong.empty() && row.real_time > 0 && !detail::is_possible({row.real_time / scale}))
      wrong = "its time is not from " + std::string(detail::time_range);
    if (row.repetitions > 1 && !row.failed && !wrong.empty()) throw InputError(m.name() + ": " + wrong);
    if (row.repetitions > 1 && add_repetition(row, m.name(), scale)) return;
    m.threads = threads;
    m.samples = row.samples ? count(*row.samples, "samples") : row.failed ? 0 : 1;
    m.calls_per_sample = count(row.calls_per_sample, "calls_per_sample", 1);
    m.workspace_bytes = count(row.workspace_bytes, "workspace_bytes");
    m.preparation = known(row.preparation_ns);
    m.difference = difference_of(row);
    m.saves_multiplications = row.saves_multiplications;
    m.advised = row.advised;
    m.contended = row.contended;
    m.noisy = row.noisy;
    if (row.wander != 0) m.wander = row.wander;
    m.at_least = known(row.at_least_ns);
    m.at_most = known(row.at_most_ns);
    m.device = device_timing(row);
    m.kernel_launches = row.kernels;
    if (row.failed) {
      m.exclude_for(std::string(row.error_message));
      if (row.status && *row.status != RowStatus::measured) m.status = *row.status;
      if (m.status == RowStatus::damaged) run_.faults.push_back(m.name() + ": was damaged before: " + m.reason);
    } else {
      set_times(m, row, scale, std::move(wrong));
    }
    keep(std::move(m));
  }

  void set_times(Measurement& m, const RowFields& row, double scale, std::string wrong) {
    const Seconds p10{row.real_time / scale}, launch{row.launch_ns / 1e9};
    if (wrong.empty() && !(p10.value > 0)) wrong = no_time;
    if (wrong.empty() && row.at_most_ns > 0 && row.at_least_ns > row.at_most_ns)
      wrong = "at_least_ns is above at_most_ns";
    if (wrong.empty() && launch.value != 0 && !run_.machine.is_device()) wrong = "launch_ns is of a GPU alone";
    if (wrong.empty() && row.status && *row.status != RowStatus::measured)
      wrong = "its status says that it is not measured, but it has no error";
    if (std::isnan(launch.value)) wrong = "launch_ns is not a number";
    else if (wrong.empty() && (launch < Seconds{} || launch >= p10)) wrong = "launch_ns is not between 0 and the time";
    if (!wrong.empty()) {
      run_.faults.push_back(m.name() + ": " + wrong);
      m.exclude(RowStatus::damaged, wrong);
      return;
    }
    if (launch.value != 0 && !m.device) m.device.emplace();
    if (m.device) m.device->launch = launch;
    // A file that gives only one time, such as Google Benchmark's without our counters, gives it for every quantile.
    const auto quantile = [](double ns, Seconds otherwise) { return std::isnan(ns) ? otherwise : Seconds{ns / 1e9}; };
    const Seconds median = quantile(row.median_ns, p10);
    m.times = MeasuredTimes{
        .min = quantile(row.min_ns, p10), .p10 = p10, .median = median, .p90 = quantile(row.p90_ns, median)};
    if (row.cv && !std::isnan(*row.cv)) m.times->cv = row.cv;  // Google Benchmark writes NaN where it is not known
    m.rounds_s = in_seconds(row.rounds_ns);
    m.visits_s = in_seconds(row.visits_ns);
    if (const std::string fault = results::row_fault(m); !fault.empty()) leave_out(m, fault);
  }

  /// Repetitions of one benchmark are samples of one row, in any order. Returns false for the first of them, which is a
  /// row like any other.
  bool add_repetition(const RowFields& row, const std::string& name, double scale) {
    if (names_.contains(name) && !repeated_.contains(name)) return false;  // another row, which is there twice
    const auto [found, is_first] = repeated_.try_emplace(name);
    auto& [index, times] = found->second;
    if (is_first) index = run_.rows.size();
    const bool timed = !row.failed && row.real_time > 0;
    if (timed) times.push_back(row.real_time / scale);
    if (is_first) return false;
    if (!timed || times.size() == 1) return true;  // a failed repetition does not count, and a failed row stays failed
    Measurement& m = run_.rows[index];
    const std::vector<double> sorted = detail::sorted_finite(times);
    m.samples = static_cast<std::int64_t>(times.size());
    m.times = MeasuredTimes{.min = {sorted.front()},
                            .p10 = {detail::quantile_of_sorted(sorted, 0.1)},
                            .median = {detail::quantile_of_sorted(sorted, 0.5)},
                            .p90 = {detail::quantile_of_sorted(sorted, 0.9)},
                            .cv = detail::coefficient_of_variation(times)};
    return true;
  }

  static std::vector<double> in_seconds(const std::vector<double>& times_ns) {
    std::vector<double> seconds;
    seconds.reserve(times_ns.size());
    for (double ns : times_ns) seconds.push_back(ns / 1e9);
    return seconds;
  }

  /// Each signature is parsed once, however many rows have it.
  const std::string& canonical(std::string_view signature) {
    auto& known = signatures_[std::string(signature)];
    if (known.empty()) known = LayerSignature::parse(signature).text();
    return known;
  }

  std::string row_text() const { return row_ == 0 ? "" : ": row " + std::to_string(row_); }

  results::Source source_;
  json::parser parser_{};
  Run run_ = unread_run();
  RowFields fields_{};
  std::size_t row_ = 0;                                      // counts from 1; 0 outside the rows
  std::unordered_map<std::string, std::string> signatures_;  // only looked up, never iterated
  std::unordered_map<std::string, std::size_t> names_{};     // rows, by name
  std::unordered_map<std::string, std::pair<std::size_t, std::vector<double>>> repeated_;  // row and times, by name
  std::vector<std::pair<std::size_t, std::string>> medians_{};  // aggregates: their numbers and texts
  std::map<std::string, std::size_t> aggregated_{};             // the first aggregate of each benchmark
  std::unordered_map<std::string, double> variation_;           // aggregates `cv`, by benchmark
};

}  // namespace

Run read_run(const std::string& file) { return Reader(file).read(); }

}  // namespace benanza
