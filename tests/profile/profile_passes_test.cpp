// SPDX-License-Identifier: Apache-2.0
// Passes of a run, its warm-ups, and events that lie inside each other.
#include "profile/nested_events.hpp"
#include "profile/passes.hpp"
#include "support/profile_support.hpp"

namespace {

using namespace profile_support;
using namespace benanza::profile;

/// Each letter is a kernel.
std::vector<std::uint32_t> ids(const std::string& letters) {
  std::vector<std::uint32_t> result;
  for (char letter : letters) result.push_back(static_cast<std::uint32_t>(letter - 'a'));
  return result;
}

std::vector<Stretch> repetitions(const std::string& letters) { return find_repetitions(ids(letters)); }

std::vector<Seconds> ms(std::initializer_list<double> values) {
  std::vector<Seconds> result;
  for (double value : values) result.push_back(milliseconds(value));
  return result;
}

std::size_t warm_ups(std::initializer_list<double> values, std::optional<std::int64_t> wanted = {}) {
  const Folder folder;
  const Source source(folder.write("run", "x"), 0);
  return warm_up_passes(source, ms(values), {.warm_ups = wanted});
}

}  // namespace

TEST_CASE("a sequence is cut where it repeats") {
  CHECK(repetitions("abcabcabc") == std::vector<Stretch>{{0, 3}, {3, 6}, {6, 9}});
  // Set-up first, passes up to the end.
  CHECK(repetitions("xyzabcabcabc") == std::vector<Stretch>{{3, 6}, {6, 9}, {9, 12}});
  // Autotuning in the first pass: other kernels there.
  CHECK(repetitions("aqqbcabcabcabc") == std::vector<Stretch>{{5, 8}, {8, 11}, {11, 14}});
  // Kernels of the set-up repeat too, but less often than those of a pass: eight of them twice, with five passes.
  CHECK(repetitions("ppqqrrsszzyyxxwwabcdabcdabcdabcdabcd") ==
        std::vector<Stretch>{{16, 20}, {20, 24}, {24, 28}, {28, 32}, {32, 36}});
  // Blocks that repeat within a pass are not passes: b occurs six times, a pass is from a to c.
  CHECK(repetitions("abbbcabbbc") == std::vector<Stretch>{{0, 5}, {5, 10}});
  CHECK(repetitions("abababcabababc") == std::vector<Stretch>{{0, 7}, {7, 14}});
  // Everything occurs twice in a pass.
  CHECK(repetitions("abbaabbaabba") == std::vector<Stretch>{{0, 4}, {4, 8}, {8, 12}});
  // A last pass that was cut off.
  CHECK(repetitions("abcdabcdab") == std::vector<Stretch>{{0, 4}, {4, 8}});
  CHECK(repetitions("aaaa") == std::vector<Stretch>{{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  CHECK(repetitions("abcdef").empty());
  CHECK(repetitions("abcdefghii").empty());
  CHECK(repetitions("").empty());
}

TEST_CASE("where the sequence goes on after the passes, they begin after the longest idle time") {
  // x abcd abcd abcd y: idle is longest before c.
  const std::vector<double> idle{0, 1, 1, 9, 1, 1, 1, 8, 1, 1, 1, 9, 1, 1};
  CHECK(find_repetitions(ids("xabcdabcdabcdy"), idle) == std::vector<Stretch>{{3, 7}, {7, 11}});
}

TEST_CASE("repetitions are passes where they go on to the end, or begin after idle times; each time with a warning") {
  const Folder folder;
  const Source source(folder.write("run", "x"), 0);
  std::vector<std::string> warnings;
  const auto passes = [&](const std::string& letters, const std::vector<double>& idle = {},
                          std::optional<std::int64_t> told = {}, Covering covering = Covering::behind_warm_up) {
    warnings.clear();
    return repeated_passes(source, ids(letters), idle, {.passes = told}, warnings, covering);
  };
  const auto said = [&warnings](const std::string& words) {
    return warnings.size() == 1 && warnings[0].find(words) != std::string::npos;
  };
  using Stretches = std::vector<Stretch>;
  // Warm-ups before, and a last pass that was cut off.
  CHECK(passes("xyabcabcabc") == Stretches{{2, 5}, {5, 8}, {8, 11}});
  CHECK(said("3 passes found by repetition of 3 records"));
  CHECK(passes("abcdabcdab") == Stretches{{0, 4}, {4, 8}});
  CHECK(said("2 passes found by repetition of 4 records"));
  // One pass of an embedding, six equal blocks and a head.
  const std::string blocks = "xyabcabcabcabcabcabcz";
  CHECK(passes(blocks) == Stretches{{0, 21}});
  CHECK(said("nothing repeats up to the end: its 21 records are taken as one pass"));
  std::vector<double> idle(21, 1);
  CHECK(passes(blocks, idle) == Stretches{{0, 21}});
  for (std::size_t i = 2; i < 20; i += 3) idle[i] = 2;  // passes, if the device idles before each
  CHECK(passes(blocks, idle).size() == 6);
  CHECK(said("6 passes found by repetition of 3 records"));
  // The given number of passes: several repetitions each, or all in one pass.
  CHECK(passes("abcabcabcabc", {}, 2) == Stretches{{0, 6}, {6, 12}});
  CHECK(warnings.empty());
  CHECK(passes(blocks, {}, 1) == Stretches{{0, 21}});
  CHECK(passes(blocks, {}, 6).size() == 6);
  CHECK_THROWS_WITH(passes("abcabcabc", {}, 2), Catch::Contains("its 9 records repeat 3 times, expected 2 passes"));
  CHECK_THROWS_AS(passes("abc", {}, 2), InputError);
  CHECK_THROWS_AS(passes("abc", {}, 0), UsageError);
  CHECK(passes("").empty());
}

TEST_CASE("in a format of one pass, repetitions are passes from the start to the end, or to a last one that is cut") {
  const Folder folder;
  const Source source(folder.write("run", "x"), 0);
  std::vector<std::string> warnings;
  const auto passes = [&](const std::string& letters, std::optional<std::int64_t> told = {}) {
    warnings.clear();
    return repeated_passes(source, ids(letters), {}, {.passes = told}, warnings, Covering::from_start);
  };
  const auto said = [&warnings](std::size_t number, const std::string& words) {
    return number < warnings.size() && warnings[number].find(words) != std::string::npos;
  };
  using Stretches = std::vector<Stretch>;
  CHECK(passes("abab") == Stretches{{0, 2}, {2, 4}});
  CHECK(said(0, "2 passes found by repetition of 2 records"));
  CHECK(warnings.size() == 1);
  CHECK(passes("abcdeabcdeab") == Stretches{{0, 5}, {5, 10}});
  CHECK(said(0, "2 passes found by repetition of 5 records"));
  CHECK(said(1, "2 records outside of the 2 passes (a pass that is cut off) are left out"));
  // Blocks of operators may also end in the middle: few of them, or one that occurs twice in a block.
  CHECK(passes("ababa") == Stretches{{0, 5}});
  CHECK(said(0, "its 5 records are taken as one pass, although 4 of them repeat"));
  CHECK(passes("abcbdabcbdab") == Stretches{{0, 12}});
  CHECK(said(0, "its 12 records are taken as one pass, although 10 of them repeat"));
  CHECK(passes("ababa", 2) == Stretches{{0, 2}, {2, 4}});
  CHECK(said(0, "1 records outside of the 2 passes"));
  CHECK(passes("xabab") == Stretches{{0, 5}});
  CHECK(said(0, "its 5 records are taken as one pass, although 4 of them repeat"));
  CHECK(passes("xabab", 1) == Stretches{{0, 5}});
  CHECK(warnings.empty());
  // One pass and a part of another one, or a model whose first and last layers have the same names.
  CHECK(passes("abcdeab") == Stretches{{0, 7}});
  CHECK(said(0, "its 7 records are taken as one pass, although the last 2 are the first ones again"));
  for (const std::string letters : {"abcde", "abcda", "abcdd", "a"}) {
    CHECK(passes(letters) == Stretches{{0, letters.size()}});
    CHECK(warnings.empty());
  }
}

TEST_CASE("warm-ups are passes at the start that are slower than the rest explains") {
  CHECK(warm_ups({10, 4, 4.01, 4.02, 4, 4}) == 1);
  CHECK(warm_ups({10, 8, 4.01, 4.02, 4, 4}) == 2);
  CHECK(warm_ups({4.3, 4, 4.01, 4.02, 4, 4}) == 0);  // 7.5 % is not a warm-up
  CHECK(warm_ups({5, 4, 6, 3, 5, 4, 6, 3}) == 0);    // the spread explains it
  CHECK(warm_ups({4, 9, 4, 4, 4, 4}) == 0);          // an outlier later on does not count
  CHECK(warm_ups({9, 4}) == 1);
  CHECK(warm_ups({9}) == 0);
  CHECK(warm_ups({}) == 0);
  CHECK(warm_ups({9, 9, 9, 4}) == 0);  // the last half, 6.5 +- 2.5, explains 9
  CHECK(warm_ups({9, 4, 4}, 2) == 2);
  CHECK(warm_ups({9, 4, 4}, 0) == 0);
  CHECK_THROWS_WITH(warm_ups({9, 4, 4}, 3), Catch::Contains("holds 3 passes, of which 3 are to be dropped"));
}

TEST_CASE("the k-th event of a name is the same record in every pass") {
  PassRecords records;
  const std::vector<PassEvent> first{{.what = 7, .start = 0, .duration = 1},
                                     {.what = 3, .start = 1, .duration = 4},
                                     {.what = 7, .parent = 1, .start = 2, .duration = 2}};
  const std::vector<PassEvent> second{{.what = 7, .start = 0, .duration = 3},
                                      {.what = 5, .start = 0.5, .duration = 9},
                                      {.what = 3, .start = 3, .duration = 5}};
  records.add_pass(first);
  records.add_pass(second);
  const auto found = records.take();
  REQUIRE(found.size() == 4);
  CHECK(found[0].what == 7);
  CHECK(found[0].times == std::vector<Seconds>{{1}, {3}});
  CHECK(found[1].what == 5);  // by the median of their starts
  CHECK(found[1].times == std::vector<Seconds>{{0}, {9}});
  CHECK(found[1].present == 1);
  CHECK(found[2].what == 3);
  CHECK(found[2].start == 2);  // median of 1 and 3
  CHECK(!found[2].parent);
  CHECK(found[3].what == 7);
  CHECK(found[3].parent == 2);
  CHECK(found[3].times == std::vector<Seconds>{{2}, {0}});
}

TEST_CASE("events nest by time on their lane, in whatever order they come") {
  std::vector<TimedEvent> events{{.start = 20'000, .end = 30'000, .position = 1, .lane = 0},
                                 {.start = 10'000, .end = 90'000, .position = 2, .lane = 0},
                                 {.start = 22'000, .end = 25'000, .position = 3, .lane = 0},
                                 {.start = 22'000, .end = 25'000, .position = 4, .lane = 1},
                                 {.start = 40'000, .end = 90'500, .position = 5, .lane = 0},   // rounding
                                 {.start = 90'000, .end = 99'000, .position = 6, .lane = 0}};  // a neighbour
  CHECK(nest(events, 1000).count == 0);
  const auto parent = [&events](std::uint64_t position) {
    for (const auto& event : events)
      if (event.position == position) return event.parent == no_event ? 0 : events[event.parent].position;
    return std::uint64_t{99};
  };
  CHECK(parent(2) == 0);
  CHECK(parent(1) == 2);
  CHECK(parent(3) == 1);
  CHECK(parent(4) == 0);
  CHECK(parent(5) == 2);
  CHECK(parent(6) == 0);
}

TEST_CASE("an event that crosses the end of another one is counted, and not enclosed by it") {
  std::vector<TimedEvent> events{{.start = 0, .end = 100'000, .position = 1},
                                 {.start = 10'000, .end = 50'000, .position = 2},
                                 {.start = 40'000, .end = 70'000, .position = 3}};
  const auto wrong = nest(events, 1000);
  CHECK(wrong.count == 1);
  CHECK(wrong.position == 3);
  CHECK(events[2].parent == 0);
}
