// SPDX-License-Identifier: Apache-2.0
// oneDNN's log (ONEDNN_VERBOSE=profile_exec): one line per primitive, with the columns that the line `template:` names,
// times in milliseconds. Lines of other programs in between are skipped. Passes are the repetitions of the sequence.
#include "nested_events.hpp"
#include "onednn_problem.hpp"
#include "passes.hpp"
#include "reader.hpp"
#include "record_value.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace benanza::profile {

namespace {

constexpr std::array<std::string_view, 2> marks{"onednn_verbose,", "dnnl_verbose,"};  // before 2.7: dnnl_verbose

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// The columns that every version prints; a template line replaces them.
constexpr std::string_view usual_columns =
    "operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_"
    "time";

struct Columns {
  explicit Columns(std::string_view names) {
    const auto list = split(names, ',');
    const auto at = [&list](std::string_view name) {
      return static_cast<std::size_t>(std::find(list.begin(), list.end(), name) - list.begin());
    };
    engine = at("engine");
    primitive = at("primitive");
    implementation = at("implementation");
    memory = at("memory_descriptors");
    attributes = at("attributes");
    problem = at("problem_desc");
    if (problem == list.size()) problem = at("problem_description");
    time = at("exec_time");
    count = list.size();
  }
  std::size_t engine, primitive, implementation, memory, attributes, problem, time, count;
};

class Verbose {
 public:
  Verbose(Source& source, const ProfileOptions& options) : source_(source), options_(options) {}

  EngineProfile read() {
    Lines lines(source_);
    for (std::string_view line; lines.next(line);) {
      // Programs print into the same stream, possibly without ending their line. A torn line is followed by a whole
      // one.
      bool marked = false;
      for (const std::string_view mark : marks)
        for (auto at = line.find(mark); at != std::string_view::npos;) {
          marked = true;
          const auto begin = at + mark.size();
          at = line.find(mark, begin);
          add_readable(line.substr(begin, at - begin), lines.position(),
                       lines.unterminated() && at == std::string_view::npos);
        }
      if (!marked && line.find(",exec,") != std::string_view::npos)  // the mark itself may be damaged
        at_line(lines.position(), [&] { check_text(line); });
    }
    if (descriptions_.empty())
      throw InputError(source_.path().string() +
                       ": no executed primitive: run with ONEDNN_VERBOSE=profile_exec (or 1)");
    finish();
    return std::move(made_);
  }

 private:
  void add_readable(std::string_view line, std::uint64_t position, bool unterminated) {
    at_line(position, [&] { add(line, position, unterminated); });
  }

  /// Calls `read`, and counts the line as one that cannot be read if it throws Unreadable.
  template <class Read>
  void at_line(std::uint64_t position, Read&& read) {
    try {
      read();
    } catch (const Unreadable& error) {
      source_.leave_out(position, error.what());
      ids_.push_back(unreadable_id);
      times_.emplace_back();
      positions_.push_back(position);
    }
  }

  void add(std::string_view line, std::uint64_t position, bool unterminated) {
    auto fields = split(line, ',');
    std::size_t from = 0;
    const auto next_is = [&](auto&& what) { return from < fields.size() && what(fields[from]); };
    if (next_is([](auto field) { return field.size() >= 2 && field[0] == 'v' && is_number(field.substr(1)); }))
      check_version(fields[from++]);
    if (next_is(is_number)) ++from;  // a timestamp
    // Partitions of the graph API contain primitives that have lines of their own.
    if (next_is([](auto field) { return field == "graph" || field == "ukernel"; })) return;
    if (next_is([](auto field) { return field == "primitive" || field == "common"; })) ++from;
    if (next_is([](auto field) { return field == "info"; })) {
      const auto start = static_cast<std::size_t>(fields[from].data() - line.data()) + 5;
      add_info(line.substr(std::min(start, line.size())));
      return;
    }
    fields.erase(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(from));
    if (fields.empty()) return;
    if (fields[0] != "exec") return check_text(fields[0]);  // create, errors, or a damaged word
    if (fields.size() != columns_.count)
      throw Unreadable("a line of " + std::to_string(fields.size()) + " columns, expected " +
                       std::to_string(columns_.count) + " (" + names_of_columns_ + "): cut off?");
    if (unterminated)
      throw Unreadable("the last line has no line end: its exec_time may be cut off; expected whole lines");
    const auto at = [&](std::size_t column) { return column < fields.size() ? fields[column] : std::string_view(); };
    check_text(line);
    const std::string_view text = at(columns_.time);
    const Seconds time = record_time(text, milliseconds(1), "exec_time '" + std::string(text) + "' in milliseconds");
    // The text from the first column up to the time identifies the same primitive on the same problem.
    const char* const first = fields[0].data();
    const auto [what, is_new] = names_.find_or_add({first, static_cast<std::size_t>(text.data() - first)});
    if (is_new)
      describe(at(columns_.engine), at(columns_.primitive), at(columns_.implementation), at(columns_.memory),
               at(columns_.attributes), at(columns_.problem));
    ids_.push_back(what);
    times_.push_back(time);
    positions_.push_back(position);
  }

  void check_version(std::string_view version) {
    if (version == checked_version_) return;
    checked_version_ = version;
    if (version != "v0" && version != "v1")
      made_.warnings.push_back(source_.path().string() + ": lines of version " + checked_version_ +
                               "; known are those up to v1");
  }

  void add_info(std::string_view text) {
    constexpr std::string_view version = "oneDNN v", isa = "cpu,isa:";
    for (const std::string_view mark : {"prim_template:", "template:"})
      if (text.starts_with(mark)) {
        std::string_view names = text.substr(mark.size());
        // At this point, the fields before the operation have already been removed from the line's columns.
        if (const auto at = names.find("operation,"); at != std::string_view::npos) names = names.substr(at);
        if (names.find("exec_time") == std::string_view::npos || names.find("primitive") == std::string_view::npos)
          return;
        names_of_columns_ = names;
        columns_ = Columns(names_of_columns_);
        return;
      }
    if (text.starts_with(version))
      made_.version = std::string(text.substr(version.size(), text.find(' ', version.size()) - version.size()));
    else if (text.starts_with(isa)) made_.device = std::string(text.substr(isa.size()));
    else if (const auto at = text.find("nthr:"); at != std::string_view::npos) {
      int threads = 0;
      if (std::from_chars(text.data() + at + 5, text.data() + text.size(), threads).ec == std::errc{} && threads > 0)
        made_.threads = threads;
    }
  }

  void describe(std::string_view engine, std::string_view primitive, std::string_view implementation,
                std::string_view memory, std::string_view attributes, std::string_view problem) {
    auto& record = descriptions_.emplace_back();
    record.op = primitive;
    record.name = record.op + " " + std::string(problem);
    if (const auto at = attributes.find("attr-post-ops:"); at != std::string_view::npos) {
      const std::string_view post = attributes.substr(at + 14);
      record.name += " +" + std::string(post.substr(0, post.find(' ')));
    }
    record.algorithm = implementation;
    record.provider = "onednn " + std::string(engine);
    record.activity = primitive == "reorder" ? Activity::conversion : Activity::layer;
    set_tensors(record, primitive, memory, problem);
  }

  void finish() {
    const auto passes = repeated_passes(source_, ids_, {}, options_, made_.warnings);
    source_.only_lacks(unreadable_in(ids_, passes));
    if (passes.front().first > 0 || passes.back().last < ids_.size())
      made_.warnings.push_back(source_.path().string() + ": " +
                               std::to_string(ids_.size() - (passes.back().last - passes.front().first)) +
                               " primitives outside of the " + std::to_string(passes.size()) +
                               " passes (preparation of weights, a cut pass) are left out");
    std::vector<Seconds> sums;
    for (const Stretch& pass : passes) {
      auto& sum = sums.emplace_back();
      for (std::size_t i = pass.first; i < pass.last; ++i) sum += times_[i];
    }
    const std::size_t dropped = warm_up_passes(source_, sums, options_);
    made_.warm_ups = static_cast<std::int64_t>(dropped);
    // All passes are equal by construction: their k-th primitives are the same.
    const Stretch& model = passes[dropped];
    for (std::size_t k = 0; k < model.last - model.first; ++k) {
      if (!is_readable(ids_, passes, k)) continue;
      auto& record = made_.records.emplace_back(descriptions_[ids_[model.first + k]]);
      record.place = {source_.index(), positions_[model.first + k]};
      for (std::size_t pass = dropped; pass < passes.size(); ++pass)
        record.times.push_back(times_[passes[pass].first + k]);
    }
  }

  Source& source_;
  const ProfileOptions& options_;
  EngineProfile made_{.engine = "onednn"};
  std::string names_of_columns_{usual_columns};
  Columns columns_{usual_columns};
  Names names_{};
  std::vector<ProfileRecord> descriptions_{};  // by the number of the name
  std::vector<std::uint32_t> ids_{};
  std::string checked_version_{};
  std::vector<Seconds> times_{};
  std::vector<std::uint64_t> positions_{};
};

bool sniff_onednn_verbose(std::string_view head) {
  return std::any_of(marks.begin(), marks.end(),
                     [head](auto mark) { return head.find(mark) != std::string_view::npos; });
}

EngineProfile read_onednn_verbose(Source& source, const ProfileOptions& options) {
  return Verbose(source, options).read();
}

}  // namespace

const Reader onednn_verbose{"oneDNN verbose log", sniff_onednn_verbose, read_onednn_verbose};

}  // namespace benanza::profile
