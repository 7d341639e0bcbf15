// The guardian program, with a leader that is a process of its own: the successor begins as soon as the leader is dead,
// and not before.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "ensemble/replica.hpp"
#include "support/line_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using clock_type = std::chrono::steady_clock;

/// The state of a process ("R", "Z") and the process that has started it; nothing if it has gone.
std::optional<std::pair<std::string, pid_t>> look_at(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return std::nullopt;
  std::istringstream behind_the_name(text.substr(text.rfind(')') + 1));
  std::pair<std::string, pid_t> found;
  behind_the_name >> found.first >> found.second;
  return found;
}

/// A zombie does not run: the end of an orphan is taken by the first process of the machine, or by nobody.
bool runs(pid_t which) {
  const auto found = look_at(std::to_string(which));
  return found && found->first != "Z";
}

std::vector<pid_t> running_children(pid_t of) {
  std::vector<pid_t> all;
  for (const auto& each : std::filesystem::directory_iterator("/proc")) {
    const auto name = each.path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    const auto found = look_at(name);
    if (found && found->second == of && found->first != "Z") all.push_back(std::stoi(name));
  }
  return all;
}

class guarded_case : public term_case {
 public:
  guarded_case() {
    std::string name = "/tmp/guarded-leader-XXXXXX";
    BOOST_TEST_REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  void teardown() {
    leader_.reset();
    guardian_.reset();
    ::unlink(socket().c_str());
    ::rmdir(folder_.c_str());
    term_case::teardown();
  }
  std::string socket() const { return folder_ + "/guardian.sock"; }

  void start_guardian() {
    guardian_ = std::make_unique<line_process>(
        "guardian", std::vector<std::string>{GUARDIAN_PROGRAM, "--socket", socket(), "--mode", "0600"});
  }
  void kill_guardian() { guardian_.reset(); }
  void end_leader() { leader_.reset(); }
  void stop_leader() { leader_->tell("stop"); }
  /// Waits until it leads. The guardian has been told of the term then, because that comes before the record.
  void start_leader(std::chrono::milliseconds deadline) { start_leader(deadline, socket()); }
  void start_leader(std::chrono::milliseconds deadline, const std::string& guardian) {
    leader_ = std::make_unique<line_process>(
        "leader", std::vector<std::string>{GUARDED_PROCESS, join_hosts(direct_hosts()), root(), guardian,
                                           std::to_string(deadline.count())});
    guarded_ = 0;
    bool leads = false;
    wait([&] {
      while (auto line = leader_->answer()) {
        if (line->starts_with("pid ")) pid_ = std::stoi(line->substr(4));
        leads = leads || *line == "leads";
        if (*line == "guarded") ++guarded_;
      }
      return leads && guarded_ > 0;
    });
    BOOST_TEST_REQUIRE(pid_ > 0);
    wait([&] { return record_says(R"("phase":"executing")"); });
  }
  void wait_guarded_again() {
    const int before = guarded_;
    wait([&] {
      while (auto line = leader_->answer()) {
        if (*line == "guarded") ++guarded_;
      }
      return guarded_ > before;
    });
  }
  /// A leader whose guardian is a child of its own.
  void start_leader_with_child() {
    start_leader(20s, std::string("child:") + GUARDIAN_PROGRAM);
    wait_child();
  }
  void wait_child() {
    wait([&] {
      const auto all = running_children(pid_);
      child_ = all.empty() ? 0 : all.front();
      return all.size() == 1u;
    });
  }
  bool child_runs() const { return runs(child_); }
  void check_child_ends_session_and_itself(replica& heir) {
    wait_heir(heir);
    BOOST_TEST((heir.does.terms.back().how() == takeover::died));
    wait([&] { return !child_runs(); });
    stop_all();
  }
  void kill_child() const { BOOST_TEST_REQUIRE(::kill(child_, SIGKILL) == 0); }
  replica& add_heir() {
    auto& heir = make(connect(), [](career&) {});
    heir.start();
    wait([&] { return stands_in_line(heir.session_id()); });
    return heir;
  }
  void signal_leader(int number) {
    signalled_at_ = clock_type::now();
    BOOST_TEST_REQUIRE(::kill(pid_, number) == 0);
  }
  /// Milliseconds until the heir executes the second term.
  std::int64_t wait_heir(replica& heir) {
    wait_executing(heir, 2);
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - signalled_at_).count();
  }

 private:
  std::string folder_;
  std::unique_ptr<line_process> guardian_;
  std::unique_ptr<line_process> leader_;
  pid_t pid_ = 0;
  int guarded_ = 0;  // how often the guardian has said that it holds everything
  clock_type::time_point signalled_at_;

 protected:
  pid_t child_ = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(guarded_leaders, guarded_case)

BOOST_AUTO_TEST_CASE(one_that_is_killed_or_crashes_is_followed_at_once) {
  start_guardian();
  for (const int number : {SIGKILL, SIGSEGV, SIGABRT}) {
    start_leader(20s);
    auto& heir = add_heir();
    signal_leader(number);
    const auto gap = wait_heir(heir);
    BOOST_TEST_MESSAGE("signal " << number << ": the successor executes after " << gap << " ms");
    BOOST_TEST((heir.does.terms.back().how() == takeover::died), "nobody has waited for the deadline of 20 s");
    stop_all();
    remove("/e");  // the next election begins with the first term
    create("/e");
  }
}

BOOST_AUTO_TEST_CASE(one_that_is_stopped_is_left_alone) {
  start_guardian();
  start_leader(100ms);
  auto& heir = add_heir();
  signal_leader(SIGSTOP);
  wait_heir(heir);
  BOOST_TEST((heir.does.terms.back().how() == takeover::forced), "its session has timed out; nobody has ended it");
  signal_leader(SIGCONT);
  wait([&] { return in_line() == 2; });  // it lives, and gets in line again with a new session
  end_leader();
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_guardian_that_was_killed_and_started_again_knows_the_leader_again) {
  start_guardian();
  start_leader(20s);
  auto& heir = add_heir();
  kill_guardian();
  start_guardian();
  wait_guarded_again();
  signal_leader(SIGKILL);
  wait_heir(heir);
  BOOST_TEST((heir.does.terms.back().how() == takeover::died));
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_guardian_that_is_a_child_of_the_leader_ends_its_session_and_then_itself) {
  start_leader_with_child();
  auto& heir = add_heir();
  signal_leader(SIGKILL);
  check_child_ends_session_and_itself(heir);
}

BOOST_AUTO_TEST_CASE(a_guardian_that_is_a_child_and_finds_the_leader_dead_when_it_awakes) {
  start_leader_with_child();
  auto& heir = add_heir();
  BOOST_TEST_REQUIRE(::kill(child_, SIGSTOP) == 0);
  signal_leader(SIGKILL);
  BOOST_TEST_REQUIRE(::kill(child_, SIGCONT) == 0);
  check_child_ends_session_and_itself(heir);
}

BOOST_AUTO_TEST_CASE(a_guardian_that_is_a_child_and_was_killed_is_started_again) {
  start_leader_with_child();
  auto& heir = add_heir();
  for (int i = 0; i < 3; ++i) {
    kill_child();
    wait_guarded_again();
    wait_child();
  }
  signal_leader(SIGKILL);
  check_child_ends_session_and_itself(heir);
}

BOOST_AUTO_TEST_CASE(a_guardian_that_is_a_child_ends_with_the_session) {
  start_leader_with_child();
  stop_leader();
  wait([&] { return !child_runs(); });
  BOOST_TEST(!record_says(R"("phase":"died")"), "the session was closed, and so taken back");
}

BOOST_AUTO_TEST_CASE(without_a_guardian_the_session_times_out) {
  start_guardian();
  start_leader(100ms);
  auto& heir = add_heir();
  kill_guardian();
  signal_leader(SIGKILL);
  wait_heir(heir);
  BOOST_TEST((heir.does.terms.back().how() == takeover::forced));
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
