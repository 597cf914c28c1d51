// SPDX-License-Identifier: Apache-2.0
#include "api_log.hpp"

#include <algorithm>
#include <charconv>

namespace benanza::profile {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The text after `key` up to the next `;` or the end; empty if there is no such key.
std::string_view field(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  std::string_view value = trimmed(line.substr(0, line.find(';')));
  if (value.ends_with('.')) value.remove_suffix(1);
  return value;
}

/// `cublasSgemm_v2` of `cublasStatus_t cublasSgemm_v2(cublasContext*, ...`.
std::string_view function_of(std::string_view header) {
  constexpr std::string_view key = " function ";
  const auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size());
  header = header.substr(0, header.find('('));
  const auto space = header.rfind(' ');
  return space == std::string_view::npos ? header : header.substr(space + 1);
}

std::string_view version_of(std::string_view header) {
  const auto open = header.find("(v"), close = header.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return header.substr(open + 2, close - open - 2);
}

struct Open {
  ApiRecord record{};
  bool wanted = false;
  std::string handle{};                                     // the value of its parameter `handle`
  std::vector<std::pair<std::size_t, std::string>> path{};  // the descriptors that enclose the last line
};

/// Updates the path of a record with a line of this indentation, given the lines before it in the record.
void descend(Open& open, std::size_t indent, std::string_view name) {
  while (!open.path.empty() && open.path.back().first >= indent) open.path.pop_back();
  open.path.emplace_back(indent, name);
}

std::string joined(const Open& open) {
  std::string text;
  for (const auto& [indent, name] : open.path) text += (text.empty() ? "" : ".") + name;
  return text;
}

class CallReader {
 public:
  CallReader(Source& source, const std::function<bool(std::string_view)>& wanted,
             const std::function<void(ApiRecord&&)>& take)
      : source_(source),
        wanted_(wanted),
        take_(take),
        has_trailers_(source.head().find("Process=") != std::string_view::npos) {}

  ApiLog read() {
    Lines lines(source_);
    std::string_view line;
    while (lines.next(line)) {
      if (line.size() < 2 || line[1] != '!') continue;  // output of the engine itself, and empty lines
      if (line[0] == 'I' || line[0] == 'W' || line[0] == 'E') header(line, lines.position());
      else if (line[0] == 'i' || line[0] == 'w' || line[0] == 'e') body(line, lines.position());
    }
    finish();
    return std::move(log_);
  }

 private:
  static constexpr std::size_t most_open = 64;  // threads; more are records that never ended

  void header(std::string_view line, std::uint64_t position) {
    const std::string_view function = function_of(line);
    if (log_.version.empty()) log_.version = version_of(line);
    if (!has_trailers_) close_all();
    if (open_.size() >= most_open) {
      cut_off(open_.front().record);
      open_.erase(open_.begin());
      if (last_ == std::size_t{0}) last_.reset();
      else if (last_) --*last_;
    }
    Open made{.wanted = line[0] == 'I' && wanted_(function)};
    made.record.position = position;
    if (made.wanted || !open_.empty()) made.record.function = function;
    open_.push_back(std::move(made));
    if (open_.size() > 1) mixed_ = true;
  }

  void body(std::string_view line, std::uint64_t position) {
    const std::string_view text = trimmed(line.substr(2));
    if (text.empty() || text.starts_with("Time:") || text.starts_with("COMPILED WITH")) return;
    if (text.starts_with("Process=")) {
      trailer(text);
      return;
    }
    if (open_.empty()) {
      if (!seen_end_) source_.fail(position, "a parameter outside any record: the log's beginning is cut off");
      return;  // a remark after a record
    }
    if (open_.size() == 1 && !open_.front().wanted && !mixed_) return;
    parameter(line, text);
  }

  void parameter(std::string_view line, std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view name = text.substr(0, colon);
    const std::size_t indent = line.find_first_not_of(' ', 2);
    const std::size_t at = open_.size() == 1 ? 0 : owner_of(indent, name);
    Open& owner = open_[at];
    descend(owner, indent, name);
    std::string_view value = field(text, "val=");
    if (value.empty()) value = field(text, "type=");
    if (name == "handle") owner.handle = value;
    if (owner.wanted || mixed_) owner.record.parameters.emplace_back(joined(owner), value);
    last_ = at;
  }

  /// Which of several open records a line belongs to: a nested line continues the record of the line before it; any
  /// other line belongs to the first record that has no parameter of that name yet.
  [[nodiscard]] std::size_t owner_of(std::size_t indent, std::string_view name) const {
    if (last_ && !open_[*last_].path.empty() && indent > open_[*last_].path.front().first) return *last_;
    for (std::size_t i = 0; i < open_.size(); ++i)
      if (!open_[i].record.find(name)) return i;
    return open_.size() - 1;
  }

  void trailer(std::string_view text) {
    seen_end_ = true;
    if (open_.empty()) return;
    std::size_t ends = 0;
    const std::string_view handle = field(text, "Handle=");
    for (std::size_t i = open_.size(); i-- > 0;)
      if (!open_[i].handle.empty() && open_[i].handle == handle) ends = i;
    Open ended = std::move(open_[ends]);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(ends));
    last_.reset();
    if (!mixed_ && !ended.wanted) return;
    ended.record.thread = field(text, "Thread=");
    ended.record.math = field(text, "MathMode=");
    group_.push_back(std::move(ended));
    if (open_.empty()) settle();
  }

  void close_all() {
    for (auto& open : open_) group_.push_back(std::move(open));
    open_.clear();
    last_.reset();
    seen_end_ = true;
    settle();
  }

  /// Called when all overlapping records have ended. A value is certainly the record's own unless another record has a
  /// different value of that name; pointers do not matter.
  void settle() {
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (!group_[i].wanted) continue;
      ApiRecord& record = group_[i].record;
      for (std::size_t k = 0; mixed_ && k < group_.size(); ++k) {
        if (k == i) continue;
        for (const auto& [name, value] : record.parameters) {
          if (name == "handle" || value.find("0x") != std::string::npos) continue;
          const auto other = group_[k].record.find(name);
          record.uncertain = record.uncertain || (other && *other != value);
        }
      }
    }
    for (auto& ended : group_)
      if (ended.wanted) take_(std::move(ended.record));
    group_.clear();
    mixed_ = false;
  }

  void cut_off(const ApiRecord& record) {
    log_.warnings.push_back(source_.place(record.position) + ": the record of " +
                            (record.function.empty() ? std::string("a call") : record.function) +
                            " is cut off, and left out");
  }

  void finish() {
    if (!has_trailers_) {
      close_all();
      return;
    }
    for (const auto& open : open_) cut_off(open.record);
    open_.clear();
    settle();
  }

  Source& source_;
  const std::function<bool(std::string_view)>& wanted_;
  const std::function<void(ApiRecord&&)>& take_;
  bool has_trailers_ = true;
  bool seen_end_ = false;
  bool mixed_ = false;  // two records were open at once, since none was open
  ApiLog log_{};
  std::vector<Open> open_{}, group_{};
  std::optional<std::size_t> last_{};  // the element of open_ to which the previous line belongs
};

}  // namespace

std::optional<std::string_view> ApiRecord::find(std::string_view name) const {
  for (const auto& [known, value] : parameters)
    if (known == name) return value;
  return std::nullopt;
}

std::optional<std::int64_t> ApiRecord::number(std::string_view name) const {
  const auto text = find(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::vector<std::int64_t> ApiRecord::list(std::string_view name) const {
  std::vector<std::int64_t> values;
  const auto text = find(name);
  if (!text || text->size() < 2 || text->front() != '[' || text->back() != ']') return values;
  const char* at = text->data() + 1;
  const char* const last = text->data() + text->size() - 1;
  while (at < last) {
    std::int64_t value = 0;
    while (at < last && *at == ' ') ++at;
    const auto [end, error] = std::from_chars(at, last, value);
    if (error != std::errc{} || (end != last && *end != ',')) return {};
    values.push_back(value);
    at = end == last ? last : end + 1;
  }
  return values;
}

std::string_view ApiRecord::word(std::string_view name) const {
  const auto text = find(name);
  return text ? text->substr(0, text->find_first_of(" (")) : std::string_view{};
}

ApiLog read_api_log(Source& source, const std::function<bool(std::string_view)>& wanted,
                    const std::function<void(ApiRecord&&)>& take) {
  return CallReader(source, wanted, take).read();
}

bool is_api_log(std::string_view head, std::string_view library) {
  const std::string mark = "I! " + std::string(library) + " (v";
  return head.starts_with(mark) || head.find("\n" + mark) != std::string_view::npos;
}

}  // namespace benanza::profile
