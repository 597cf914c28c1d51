// SPDX-License-Identifier: Apache-2.0
// Splitting of huge JSON arrays, and reading of files byte by byte.
#include "profile/source.hpp"
#include "profile/trace_event.hpp"
#include "support/profile_support.hpp"

#include <zlib.h>

namespace {

using namespace profile_support;
using benanza::profile::EventStream;
using benanza::profile::Lines;
using benanza::profile::Source;

struct Split {
  std::vector<std::string> events{}, members{};
  std::vector<std::uint64_t> positions{};
};

Split split(const fs::path& file) {
  Source source(file, 0);
  EventStream stream(source, "traceEvents");
  Split result;
  for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next()) {
    if (item == EventStream::Item::event) {
      result.events.emplace_back(stream.text());
      result.positions.push_back(stream.position());
    } else {
      result.members.push_back(std::string(stream.name()) + "=" + std::string(stream.text()));
    }
  }
  return result;
}

std::string split_error(const std::string& text) {
  const Folder folder;
  try {
    static_cast<void>(split(folder.write("profile", text)));
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.substr(what.find("/profile") + 10);
  }
  return "";
}

void write_zipped(const fs::path& file, const std::string& text) {
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
}

}  // namespace

TEST_CASE("events of a bare array and of an object come one by one, each with its byte") {
  const Folder folder;
  const auto bare = split(folder.write("a", R"( [ {"a": "}]\"{"}, {"b":[1,{"c":2}]} , 3, "x\\" ] )"));
  CHECK(bare.events == std::vector<std::string>{R"({"a": "}]\"{"})", R"({"b":[1,{"c":2}]})", "3", R"("x\\")"});
  CHECK(bare.positions == std::vector<std::uint64_t>{3, 19, 39, 42});
  const auto object =
      split(folder.write("b", R"({"schemaVersion":1, "p":[{"traceEvents":[9]}],"traceEvents":[{},{}],"n":"x"})"));
  CHECK(object.events == std::vector<std::string>{"{}", "{}"});
  CHECK(object.members == std::vector<std::string>{"schemaVersion=1", R"(p=[{"traceEvents":[9]}])", "n=\"x\""});
  CHECK(split(folder.write("c", "[]")).events.empty());
  CHECK(split(folder.write("d", "[1,]")).events.size() == 1);
}

TEST_CASE("events across the borders of what is read at a time are whole") {
  // Chunks are 64 KiB, then 1 MiB. In 3 MB of events, each of which ends in an escaped quote and a backslash, every
  // character of an event is at a border sooner or later.
  const Folder folder;
  std::string text = "[", event;
  std::size_t count = 0;
  while (text.size() < 3'000'000) {
    event = R"({"name":"k\"\\)" + std::string(count % 97, 'x') + R"(\\","args":{"n":)" + std::to_string(count) + "}}";
    text += (count++ == 0 ? "" : ",\n") + event;
  }
  const auto plain = split(folder.write("plain", text + "]"));
  REQUIRE(plain.events.size() == count);
  CHECK(plain.events.back() == event);
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(text.compare(plain.positions[i], plain.events[i].size(), plain.events[i]) == 0);

  write_zipped(folder.path / "zipped", text + "]");
  const auto zipped = split(folder.path / "zipped");
  CHECK(zipped.events == plain.events);
  CHECK(zipped.positions == plain.positions);
}

TEST_CASE("what is not JSON of this form, or ends early, is refused with the byte") {
  CHECK(split_error(R"([{"a")") == "byte 5: the file ends in the middle of the JSON: it was cut off");
  CHECK(split_error(R"({"traceEvents":[{},)") == "byte 19: the file ends in the middle of the JSON: it was cut off");
  CHECK(split_error(R"({"traceEvents":[{},{"a")") ==
        "byte 23: the file ends in the middle of the JSON: it was cut off");
  CHECK(split_error(R"([{}][)") == "byte 4: more text after the end of the document: two documents in one file");
  CHECK(split_error(R"({"a":1})") == "byte 7: the object ends without 'traceEvents'");
  CHECK(split_error(R"({"traceEvents":{}})") == "byte 15: found '{', expected an array of events");
  CHECK(split_error(R"({"traceEvents":[],"traceEvents":[]})") == "byte 32: a second 'traceEvents'");
  CHECK(split_error("[x]") == "byte 1: found 'x', expected a JSON value");
  CHECK(split_error("") == "byte 0: the file is empty");
}

TEST_CASE("what is wrong around whole events is said") {
  const Folder folder;
  const auto warnings = [&](const std::string& text, std::size_t events) {
    Source source(folder.write("profile", text), 0);
    EventStream stream(source, "traceEvents");
    std::size_t count = 0;
    while (stream.next() == EventStream::Item::event) ++count;
    CHECK(count == events);
    const auto all = source.warnings();
    REQUIRE(all.size() == 1);
    return all[0].substr(all[0].find("/profile") + 10);
  };
  CHECK(warnings(R"([{"a":1},{"a")", 1) ==
        "byte 13: the array has no end, and its last record is cut off: it is left out; whole records: 1");
  CHECK(warnings(R"([{"a":1})", 1) ==
        "byte 8: the array has no end: what was still to be written is missing; whole records: 1");
  CHECK(warnings(R"({"traceEvents":[{}])", 1) ==
        "byte 19: the object has no end: what was still to be written is missing");
  CHECK(warnings(R"([{"a":1} {"a":2}])", 2) == "byte 9: found '{', expected ',' or ']'");
  CHECK(warnings(R"([{}]])", 1) == "byte 4: the text after the end of the JSON is left out");
}

TEST_CASE("a gzip file that is cut off is refused") {
  const Folder folder;
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 10007) + ",";
  write_zipped(folder.path / "whole", text + "1]");
  const std::string bytes = contents(folder.path / "whole");
  const auto cut = folder.write("cut", bytes.substr(0, bytes.size() / 2));
  CHECK_THROWS_WITH(split(cut), Catch::EndsWith("the gzip file is damaged or cut off: unexpected end of file"));
  CHECK_THROWS_WITH(Source(folder.path / "none", 0), Catch::Contains("cannot be read: No such file"));
  CHECK_THROWS_WITH(Source(folder.path, 0), Catch::Contains("cannot be read"));
}

TEST_CASE("lines keep their bytes, whatever ends them") {
  const Folder folder;
  const std::string longer(70'000, 'y');  // longer than the first chunk
  Source source(folder.write("lines",
                             "\xEF\xBB\xBF"
                             "one\r\n\ntwo\n" +
                                 longer + "\nlast"),
                0);
  Lines lines(source);
  std::vector<std::string> found;
  std::vector<std::uint64_t> positions;
  for (std::string_view line; lines.next(line); positions.push_back(lines.position())) found.emplace_back(line);
  CHECK(found == std::vector<std::string>{"one", "", "two", longer, "last"});
  CHECK(positions == std::vector<std::uint64_t>{3, 8, 9, 13, 70'014});
  CHECK(lines.number() == 5);
  CHECK(lines.unterminated());
  Source whole(folder.write("whole", "one\r\ntwo\n"), 0);
  Lines terminated(whole);
  for (std::string_view line; terminated.next(line);) CHECK(!terminated.unterminated());
}

TEST_CASE("microseconds become nanoseconds exactly") {
  using benanza::profile::nanoseconds_of_microseconds;
  CHECK(nanoseconds_of_microseconds("12") == 12'000);
  CHECK(nanoseconds_of_microseconds("1712345678901234.567") == 1'712'345'678'901'234'567);  // a double holds 2^53
  CHECK(nanoseconds_of_microseconds("0.5") == 500);
  CHECK(nanoseconds_of_microseconds("-0.5") == -500);
  CHECK(nanoseconds_of_microseconds("-3.001") == -3'001);
  CHECK(nanoseconds_of_microseconds("1.23456") == 1'235);
  CHECK(nanoseconds_of_microseconds("1e3") == 1'000'000);
  // Exponents behind up to three characters of a fraction (RFC 8259), and integers of more digits than 64 bits hold.
  CHECK(nanoseconds_of_microseconds("4.1e1") == 41'000);
  CHECK(nanoseconds_of_microseconds("1.5E2") == 150'000);
  CHECK(nanoseconds_of_microseconds("-2.5e0") == -2'500);
  CHECK(nanoseconds_of_microseconds("12345678901234567890e-16") == 1'234'568);
  CHECK(!nanoseconds_of_microseconds("4.1e"));
  CHECK(!nanoseconds_of_microseconds("4.x"));
  CHECK(!nanoseconds_of_microseconds("1.2.3"));
  CHECK(!nanoseconds_of_microseconds("abc"));
  CHECK(!nanoseconds_of_microseconds("1e300"));
  CHECK(!nanoseconds_of_microseconds("99999999999999999"));
}
