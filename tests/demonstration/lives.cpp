// The audits know of each process until when it surely lived: they take nobody for living who is not, and nobody for
// dead who is not yet.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "demonstration/consumer_group.hpp"
#include "demonstration/phases.hpp"

using namespace demo;

namespace {

phase_mark begins(std::int64_t time, std::string who, std::int64_t epoch, std::string phase, std::uint32_t shard = 0) {
  return {time, std::move(who), epoch, std::move(phase), true, shard};
}
phase_mark ends(std::int64_t time, std::string who, std::int64_t epoch, std::string phase, std::uint32_t shard = 0) {
  return {time, std::move(who), epoch, std::move(phase), false, shard};
}
phase_mark tells(std::int64_t time, std::string who, std::string what) {
  return {time, std::move(who), 0, std::move(what), false};
}

/// A folder with the log of a director.
class record {
 public:
  ~record() { std::filesystem::remove_all(folder_); }

  phase_log& log() { return *log_; }
  std::vector<phase_mark> marks() const { return read_phases(folder_); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& each : marks()) all.push_back(each.phase);
    return all;
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("zkrecipes-lives-" + std::to_string(::getpid()));
  std::unique_ptr<phase_log> log_ = [this] {
    std::filesystem::create_directory(folder_);
    return std::make_unique<phase_log>(folder_ / "director");
  }();
};

/// One process that waits.
struct one_process {
  explicit one_process(bool killers = true)
      : group(
            {.size = 1, .killers = killers}, book.log(), [this](const std::string&) { return launch(); },
            [](const std::string&) {}) {
    group.start(0);
  }
  process launch() {
    process made("/bin/sleep", {"1000"});
    pid = made.pid();
    return made;
  }
  /// As the kernel shows it: T if it is stopped.
  char state() const {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name;
    char what = 0;
    in >> number >> name >> what;
    return what;
  }
  void supervise_until_dead() {
    while (group.died() + group.failed() == 0) group.supervise();
  }

  record book;
  pid_t pid = 0;
  consumer_group group;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(demonstration_lives)

BOOST_AUTO_TEST_CASE(a_hand_over_beside_the_successor_is_seen) {
  std::vector<phase_mark> marks{begins(1, "a", 1, "execute"),   ends(5, "a", 1, "execute"),
                                begins(6, "a", 1, "hand_over"), begins(7, "b", 2, "inaugurate"),
                                ends(8, "b", 2, "inaugurate"),  ends(9, "a", 1, "hand_over")};
  BOOST_TEST(count_overlaps(marks) == 1u);
  marks = {begins(1, "a", 1, "hand_over"), ends(2, "a", 1, "hand_over"), begins(3, "b", 2, "inaugurate")};
  BOOST_TEST(count_overlaps(marks) == 0u);
}

BOOST_AUTO_TEST_CASE(a_process_that_was_stopped_does_nothing) {
  const std::vector<phase_mark> marks{begins(1, "a", 1, "execute"), tells(2, "a", silenced),
                                      begins(3, "b", 2, "inaugurate"), ends(4, "a", 1, "execute"),
                                      begins(5, "a", 1, "hand_over")};
  BOOST_TEST(count_overlaps(marks) == 1u, "the hand-over only");
}

BOOST_AUTO_TEST_CASE(one_that_a_message_kills_may_be_followed_before_anybody_notes_its_death) {
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), tells(2, "a", lived), begins(3, "b", 2, "inaugurate"),
                             ends(4, "b", 2, "inaugurate"), begins(5, "b", 2, "execute"), tells(6, "a", silenced)}) ==
             0u);
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), begins(2, "b", 2, "inaugurate"), tells(3, "a", lived),
                             ends(4, "b", 2, "inaugurate"), begins(5, "b", 2, "execute"), tells(6, "a", silenced)}) ==
             1u);
}

BOOST_AUTO_TEST_CASE(one_that_dies_without_a_word_lived_until_its_last_mark) {
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), begins(2, "b", 2, "execute"), tells(3, "a", silenced)}) ==
             0u);
  for (const auto& sign : {tells(3, "a", cut), begins(3, "a", 9, "inaugurate", 7), ends(3, "a", 9, "execute", 7)}) {
    BOOST_TEST(count_overlaps(
                   {begins(1, "a", 1, "execute"), begins(2, "b", 2, "execute"), sign, tells(4, "a", silenced)}) == 1u);
  }
  for (const auto& none : {tells(3, "a", leaves), tells(3, "b", cut)}) {
    BOOST_TEST(count_overlaps(
                   {begins(1, "a", 1, "execute"), begins(2, "b", 2, "execute"), none, tells(4, "a", silenced)}) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(one_whose_death_nobody_has_noted_goes_on) {
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), begins(2, "b", 2, "execute")}) == 1u);
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), tells(2, "a", lived), begins(3, "b", 2, "execute")}) == 1u);
}

BOOST_AUTO_TEST_CASE(a_phase_that_begins_while_its_process_is_being_killed_ends_with_it) {
  BOOST_TEST(count_overlaps({tells(1, "a", lived), begins(2, "a", 1, "inaugurate"), tells(3, "a", silenced),
                             begins(4, "b", 2, "inaugurate")}) == 0u);
  BOOST_TEST(count_overlaps({begins(1, "b", 2, "inaugurate"), tells(2, "a", lived), begins(3, "a", 1, "inaugurate"),
                             tells(4, "a", silenced)}) == 1u);
}

BOOST_AUTO_TEST_CASE(the_next_life_of_a_process_counts) {
  BOOST_TEST(
      count_overlaps({begins(1, "a", 1, "execute"), tells(2, "a", lived), tells(3, "a", silenced),
                      tells(4, "a", started), begins(5, "b", 2, "inaugurate"), begins(6, "a", 3, "inaugurate")}) == 1u);
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), tells(2, "a", lived), tells(3, "a", silenced),
                             tells(4, "a", started), begins(5, "a", 2, "inaugurate")}) == 0u);
}

BOOST_AUTO_TEST_CASE(two_phases_of_one_process_overlap_too) {
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "hand_over"), begins(2, "a", 2, "inaugurate")}) == 1u);
  BOOST_TEST(
      count_overlaps({begins(1, "a", 1, "inaugurate"), ends(2, "a", 1, "inaugurate"), begins(3, "a", 1, "execute"),
                      ends(4, "a", 1, "execute"), begins(5, "a", 2, "inaugurate")}) == 0u);
}

/// Nobody promises that no process sleeps, but what it begins after it has woken is its fault.
BOOST_AUTO_TEST_CASE(one_that_was_not_run_past_its_lease_does_nothing_meanwhile) {
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), tells(2, "a", asleep), begins(3, "b", 2, "inaugurate"),
                             ends(4, "a", 1, "execute"), tells(5, "a", awake)}) == 0u);
  BOOST_TEST(count_overlaps({begins(1, "a", 1, "execute"), begins(2, "b", 2, "inaugurate"), tells(3, "a", asleep),
                             tells(4, "a", awake)}) == 1u);
  BOOST_TEST(count_overlaps({tells(1, "a", asleep), begins(2, "b", 2, "execute"), begins(3, "a", 1, "inaugurate"),
                             tells(4, "a", awake)}) == 0u);
  BOOST_TEST(count_overlaps({tells(1, "a", asleep), begins(2, "b", 2, "execute"), tells(3, "a", awake),
                             begins(4, "a", 1, "hand_over")}) == 1u);
  BOOST_TEST(count_overlaps({tells(1, "a", asleep), tells(2, "a", silenced), tells(3, "a", started),
                             begins(4, "b", 2, "execute"), begins(5, "a", 3, "inaugurate")}) == 1u);
}

BOOST_AUTO_TEST_CASE(a_sleep_is_noted_before_what_it_has_delayed) {
  record book;
  std::optional<std::int64_t> since;
  book.log().watch_sleep([&] { return std::exchange(since, std::nullopt); });
  auto phase = book.log().begins(begins(0, "a", 1, "execute"));
  since = monotonic_ns();
  phase.reset();
  since = monotonic_ns();
  phase = book.log().begins(begins(0, "a", 1, "hand_over"));
  since = monotonic_ns();
  book.log().look("a");
  book.log().look("a");
  const std::vector<std::string> wanted{"execute", asleep, "execute", awake, asleep, "hand_over", awake, asleep, awake};
  BOOST_TEST(book.names() == wanted, boost::test_tools::per_element());
}

/// A guardian ends the session of a dead process before the director goes on.
BOOST_AUTO_TEST_CASE(the_last_time_of_one_that_is_killed_is_from_before) {
  one_process one;
  const auto before = monotonic_ns();
  BOOST_TEST_REQUIRE(one.group.silence(0, SIGKILL));
  const auto marks = one.book.marks();
  BOOST_TEST_REQUIRE(marks.size() == 3u);
  BOOST_TEST(marks[1].phase == lived);
  BOOST_TEST(marks[1].time_ns >= before);
  BOOST_TEST(marks[2].phase == silenced);
  BOOST_TEST(!std::filesystem::exists("/proc/" + std::to_string(one.pid)));
  BOOST_TEST(!one.group.silence(0, SIGKILL), "nobody is killed twice");
  BOOST_TEST(one.book.marks().size() == 3u);
}

BOOST_AUTO_TEST_CASE(one_that_is_stopped_runs_no_more_when_that_is_noted) {
  one_process one;
  BOOST_TEST_REQUIRE(one.group.silence(0, SIGSTOP));
  BOOST_TEST(one.state() == 'T');
  BOOST_TEST(one.book.names().back() == silenced);
  one.group.resume(0);
  BOOST_TEST_REQUIRE(one.group.silence(0, SIGSTOP), "once more");
  BOOST_TEST(one.state() == 'T');
}

BOOST_AUTO_TEST_CASE(one_that_has_died_can_not_be_stopped) {
  process dead("/bin/true", {});
  siginfo_t end{};
  BOOST_TEST_REQUIRE(::waitid(P_PID, static_cast<id_t>(dead.pid()), &end, WEXITED | WNOWAIT) == 0);
  BOOST_TEST(!dead.pause());
  BOOST_TEST(dead.wait() == 0);
}

BOOST_AUTO_TEST_CASE(one_that_a_message_kills_has_not_failed_even_if_it_was_asked_to_end) {
  for (const bool killers : {true, false}) {
    one_process one(killers);
    BOOST_TEST_REQUIRE(one.group.dismiss(0, SIGKILL));
    one.supervise_until_dead();
    BOOST_TEST(one.group.died() == (killers ? 1 : 0));
    BOOST_TEST(one.group.failed() == (killers ? 0 : 1));
    BOOST_TEST(!one.group.is_running(0), "it was asked to end");
  }
}

/// A shard that a process takes while it is being killed moves for that reason.
BOOST_AUTO_TEST_CASE(a_term_that_begins_while_its_process_is_being_killed_has_died) {
  const auto found = count_moves(
      {tells(1, "a", lived), begins(2, "a", 1, "inaugurate"), tells(3, "a", silenced), begins(4, "b", 2, "inaugurate")},
      {2}, {1});
  BOOST_TEST(found.died == 1u);
  BOOST_TEST(found.unexplained == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
