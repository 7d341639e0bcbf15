// `zkadmin lock` against real servers: statuses, what the command gets, and what it is asked to wait for.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>

#include <signal.h>

#include <zkrecipes/lock.hpp>

#include "base/text.hpp"
#include "live/hold_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using words = std::vector<std::string>;

struct lock_fixture : hold_fixture {
  lock_fixture() : at(root() + "/l") { leaves("/l"); }
  words lock(const words& more) const { return words{"lock", at} + more; }
  words shell(const std::string& script) const { return lock({"--", "sh", "-c", script}); }

  std::string at;
};

bool has_part(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// The value of a line NAME=value.
std::string value_of(const std::string& name, const std::string& lines) {
  const auto begin = lines.find(name + "=");
  if (begin == lines.npos) return "none";
  const auto value = begin + name.size() + 1;
  return lines.substr(value, lines.find('\n', value) - value);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_suite, lock_fixture)

BOOST_AUTO_TEST_CASE(the_status_is_that_of_the_command) {
  BOOST_TEST(finish(shell("exit 7")).code == 7);
  BOOST_TEST(finish(shell("kill -KILL $$")).code == 128 + SIGKILL);
  const auto result = finish(lock({"--", "true"}));
  BOOST_TEST(result.code == 0);
  BOOST_TEST(result.err == "");
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_CASE(words_behind_the_dashes_are_passed_on_as_they_are) {
  const auto result = finish(lock({"--", "printf", "%s|", "--try", "--", "a b", "", "$HOME"}));
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(result.out == "--try|--|a b||$HOME|");
}

BOOST_AUTO_TEST_CASE(the_command_knows_what_is_held) {
  auto running = start(shell("env; echo end; exec sleep 1000"), {{"ZKADMIN_TOKEN", "old"}, {"OTHER", "kept"}});
  BOOST_TEST_REQUIRE(run_until([&] { return has_part(running.out(), "end\n"); }));
  const auto node = member("/l");
  BOOST_TEST(value_of("ZKADMIN_PATH", running.out()) == at);
  BOOST_TEST(value_of("ZKADMIN_NODE", running.out()) == at + "/" + children("/l").at(0));
  BOOST_TEST(value_of("ZKADMIN_TOKEN", running.out()) == std::to_string(node.stat.czxid));
  BOOST_TEST(value_of("ZKADMIN_SESSION", running.out()) ==
             zkadmin::hexadecimal(static_cast<std::uint64_t>(node.stat.ephemeral_owner)));
  BOOST_TEST(value_of("OTHER", running.out()) == "kept");
  running.send(SIGTERM);
  BOOST_TEST(running.wait().code == 128 + SIGTERM);
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_CASE(no_descriptor_of_ours_is_inherited) {
  const auto bare = finish(shell("ls -l /proc/self/fd"));
  BOOST_TEST(!has_part(bare.out, "socket:"), bare.out);
  BOOST_TEST(!has_part(bare.out, "anon_inode:"), bare.out);
}

BOOST_AUTO_TEST_CASE(try_does_not_wait) {
  auto held = take("/l");
  const auto taken = finish(lock({"--try", "--", "true"}));
  BOOST_TEST(taken.code == 123);
  BOOST_TEST(taken.err == "zkadmin: lock " + at + ": another client has it, or is in line\n");
  BOOST_TEST(length("/l") == 1);
  run(held.async_release(tuple));
  BOOST_TEST(finish(lock({"--try", "--", "true"})).code == 0);
}

BOOST_AUTO_TEST_CASE(the_wait_can_be_limited) {
  auto held = take("/l");
  const auto result = finish(lock({"--for", "200ms", "--", "true"}));
  BOOST_TEST(result.code == 124, result.err);
  BOOST_TEST(gets_length("/l", 1));
  run(held.async_release(tuple));
  BOOST_TEST(finish(lock({"--for", "20s", "--", "true"})).code == 0);
}

BOOST_AUTO_TEST_CASE(it_waits_for_the_one_in_front) {
  auto held = take("/l");
  auto waiting = start(lock(witness("w")));
  BOOST_TEST_REQUIRE(gets_length("/l", 2));
  BOOST_TEST(begin_of("w") == 0);
  run(held.async_release(tuple));
  BOOST_TEST(begins("w"));
  waiting.send(SIGINT);
  BOOST_TEST(waiting.wait().code == 128 + SIGINT);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait) {
  auto held = take("/l");
  auto waiting = start(lock({"--", "true"}));
  BOOST_TEST_REQUIRE(gets_length("/l", 2));
  waiting.send(SIGTERM);
  BOOST_TEST(waiting.wait().code == 128 + SIGTERM);
  BOOST_TEST(gets_length("/l", 1));
  run(held.async_release(tuple));
}

BOOST_AUTO_TEST_CASE(a_semaphore_lets_as_many_in) {
  auto first = start(lock({"-n", "2"}) + witness("a"));
  auto second = start(lock({"-n", "2"}) + witness("b"));
  BOOST_TEST(begins("a"));
  BOOST_TEST(begins("b"));
  BOOST_TEST(finish(lock({"-n", "2", "--try", "--", "true"})).code == 123);
  BOOST_TEST(fails(finish(lock({"-n", "3", "--", "true"})), 125, "3"));
  for (auto* each : {&first, &second}) each->send(SIGTERM);
  BOOST_TEST(first.wait().code == 128 + SIGTERM);
  BOOST_TEST(second.wait().code == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(readers_share_and_writers_do_not) {
  auto first = start(lock({"--read"}) + witness("a"));
  auto second = start(lock({"--read"}) + witness("b"));
  BOOST_TEST(begins("a"));
  BOOST_TEST(begins("b"));
  BOOST_TEST(finish(lock({"--write", "--try", "--", "true"})).code == 123);
  for (auto* each : {&first, &second}) each->send(SIGTERM);
  BOOST_TEST(first.wait().code == 128 + SIGTERM);
  BOOST_TEST(second.wait().code == 128 + SIGTERM);
  BOOST_TEST(finish(lock({"--write", "--try", "--", "true"})).code == 0);
}

BOOST_AUTO_TEST_CASE(signals_are_passed_on) {
  for (const auto& [number, name] : std::map<int, std::string>{{SIGHUP, "HUP"},
                                                               {SIGINT, "INT"},
                                                               {SIGQUIT, "QUIT"},
                                                               {SIGTERM, "TERM"},
                                                               {SIGUSR1, "USR1"},
                                                               {SIGUSR2, "USR2"}}) {
    auto running = start(shell("trap 'echo got it; exit 3' " + name + "; echo ready; while :; do sleep 0.02; done"));
    BOOST_TEST_REQUIRE(run_until([&] { return running.out() == "ready\n"; }));
    running.send(number);
    const auto result = running.wait();
    BOOST_TEST(result.out == "ready\ngot it\n", name);
    BOOST_TEST(result.code == 3, name);
  }
}

BOOST_AUTO_TEST_CASE(signals_that_are_ignored_stay_so) {
  const words ignored{"--", "grep", "SigIgn", "/proc/self/status"};
  std::ifstream file("/proc/self/status");
  std::string ours;
  while (ours.rfind("SigIgn", 0) != 0 && std::getline(file, ours)) continue;
  const std::string script = "trap '' HUP; exec \"$0\" lock \"$@\"";
  const auto nested = finish(lock(words{"--", "sh", "-c", script, ZKADMIN_PROGRAM, root() + "/inner"} + ignored));
  leaves("/inner");
  BOOST_TEST(nested.code == 0, nested.err);
  // The C library's own signals, 32 and 33, are ignored by what posix_spawn has started.
  const auto mask = [](const std::string& line) {
    return std::stoull(line.substr(line.find('\t')), nullptr, 16) & 0x7fffffff;
  };
  BOOST_TEST(mask(finish(lock(ignored)).out) == mask(ours));
  BOOST_TEST(mask(nested.out) == (mask(ours) | 1U << (SIGHUP - 1)));
}

BOOST_AUTO_TEST_CASE(a_command_that_can_not_be_executed) {
  const auto missing = finish(lock({"--", "/nowhere/nothing"}));
  BOOST_TEST(missing.code == 127);
  BOOST_TEST(missing.err == "zkadmin: lock " + at + ": cannot execute /nowhere/nothing: No such file or directory\n");
  BOOST_TEST(finish(lock({"--", "no-program-of-this-name"})).code == 127);
  BOOST_TEST(finish(lock({"--", write("text", "no program")})).code == 126);
  BOOST_TEST(finish(lock({"--", "/"})).code == 126);
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_CASE(what_the_command_leaves_in_the_background_goes_on) {
  const auto result = finish(shell(std::string(WITNESS_PROGRAM) + " " + file("w") +
                                   " >/dev/null 2>&1 & echo $!; until test -s " + file("w") + "; do sleep 0.02; done"));
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(begins("w"));
  BOOST_TEST(!is_gone("w"));
  ::kill(std::stoi(result.out), SIGKILL);
  BOOST_TEST(run_until([&] { return is_gone("w"); }));
}

BOOST_AUTO_TEST_CASE(failures_before_the_command) {
  BOOST_TEST(fails(finish({"lock", "/l", "--hosts", "127.0.0.1:1", "--timeout", "500ms", "--", "true"}), 125,
                   "no session within 500 ms: 127.0.0.1:1: "));
  create("/other", R"({"zkrecipes":"counter"})");
  leaves("/other");
  BOOST_TEST(fails(finish({"lock", root() + "/other", "-n", "2", "--", "true"}), 125, root() + "/other"));
  finish(lock({"--", "true"}));
}

BOOST_AUTO_TEST_CASE(a_path_of_another_recipe_is_left_alone) {
  const auto refused = [this](const std::string& kind) {
    BOOST_TEST(fails(finish({"lock", root() + "/l", "--", "true"}), 125,
                     root() + "/l is that of another recipe (" + kind + "): use another path"));
  };
  create("/l", R"({"zkrecipes":"term","epoch":1})");
  refused("election");
  BOOST_TEST(children("/l").empty());
  remove("/l");
  create("/l");
  create("/l/qn-0000000001");
  refused("queue");
  BOOST_TEST(children("/l").size() == 1u);
  remove("/l/qn-0000000001");
}

BOOST_AUTO_TEST_CASE(mistakes_are_told) {
  const std::vector<words> all{{"lock", "/l"},
                               {"lock", "/l", "--"},
                               {"lock", "l", "--", "true"},
                               {"lock", "/l", "-n", "0", "--", "true"},
                               {"lock", "/l", "-n", "2", "--read", "--", "true"},
                               {"lock", "/l", "--try", "--for", "1s", "--", "true"},
                               {"lock", "/l", "--grace", "x", "--", "true"},
                               {"lock", "/l", "--id", "a\nb", "--", "true"},
                               {"lead", "/l", "-n", "2", "--", "true"}};
  for (const auto& each : all) {
    const auto result = finish(each);
    BOOST_TEST(result.code == 2, result.err);
    BOOST_TEST(result.err.starts_with("zkadmin: "), result.err);
  }
  finish(lock({"--", "true"}));
}

BOOST_AUTO_TEST_SUITE_END()

// Holders that are cut off from the servers until their sessions have expired: the command of each ends before that of
// the next holder begins. ZKADMIN_HOLD_TRIALS=50 makes 50 trials.

namespace {

constexpr int at_a_time = 10;

struct trial {
  std::string name;
  running_program holder;
  std::optional<running_program> next{};
};

struct cut_off_fixture : hold_fixture {
  running_program begin(const std::string& at, const std::string& from, const words& command) {
    return start(words{"lock", root() + at, "--session-timeout", "4s", "--hosts", from} + command);
  }

  /// Some holders behind the proxy, and one that waits behind each of them.
  std::deque<trial> begin_trials(int first, int count) {
    std::deque<trial> all;
    for (int i = first; i < first + count; ++i) {
      const auto name = std::to_string(i);
      leaves("/" + name);
      words more;
      if (i % 2 == 0) more = {"stubborn"};
      all.push_back({name, begin("/" + name, own().address(), witness("holder" + name, more))});
    }
    for (auto& each : all) BOOST_TEST_REQUIRE(begins("holder" + each.name));
    for (auto& each : all) each.next.emplace(begin("/" + each.name, hosts, witness("next" + each.name)));
    for (auto& each : all) BOOST_TEST_REQUIRE(gets_length("/" + each.name, 2));
    return all;
  }

  void cut(bool is_silent) {
    if (is_silent) return own().freeze(true);
    own().refuse(true);
    own().cut();
  }

  void judge(trial& each) {
    BOOST_TEST_REQUIRE(begins("next" + each.name));
    const auto gap = begin_of("next" + each.name) - last_sign_of("holder" + each.name);
    BOOST_TEST(gap > 0, each.name);
    least_gap = std::min(least_gap, gap);
    const auto result = each.holder.wait();
    BOOST_TEST(result.code == 121, result.err);
    BOOST_TEST(is_gone("holder" + each.name));
    each.next->send(SIGTERM);
    BOOST_TEST(each.next->wait().code == 128 + SIGTERM);
  }

  std::int64_t least_gap = INT64_MAX;
};

int wanted_trials() {
  const char* const wish = std::getenv("ZKADMIN_HOLD_TRIALS");
  return wish ? std::max(1, std::atoi(wish)) : at_a_time;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_cut_off_suite, cut_off_fixture)

BOOST_AUTO_TEST_CASE(the_command_ends_before_that_of_the_next_holder_begins) {
  const int wanted = wanted_trials();
  for (int done = 0; done < wanted; done += at_a_time) {
    auto all = begin_trials(done, std::min(at_a_time, wanted - done));
    cut(done / at_a_time % 2 == 0);
    for (auto& each : all) judge(each);
    own().freeze(false);
    own().refuse(false);
  }
  BOOST_TEST_MESSAGE(wanted << " trials, the least gap was " << static_cast<double>(least_gap) / 1e6 << " ms");
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin lock` when what it holds ends, or one of its processes does: the command ends in time.

namespace {

constexpr std::int64_t second = 1'000'000'000;

struct losses_fixture : hold_fixture {
  losses_fixture() : at(root() + "/l") { leaves("/l"); }
  words lock(const words& more) const { return words{"lock", at} + more; }

  bool is_refused(const std::string& node) {
    const auto got = run(zk().async_commit(transaction().check(node), tuple));
    return std::get<0>(got) == errc::no_node;
  }
  void revoke(std::chrono::milliseconds grace) {
    zkrecipes::lock line(zk(), "/l");
    const auto asked = run(line.async_request_revocation(grace, tuple));
    BOOST_TEST(!std::get<0>(asked), std::get<0>(asked).message());
  }
  /// Waits until the holder, which is to be the first in line, is followed by this one.
  running_program follow(const std::string& name) {
    auto next = start(lock(witness(name)));
    BOOST_TEST_REQUIRE(gets_length("/l", 2));
    return next;
  }
  void end(running_program& which) {
    which.send(SIGTERM);
    BOOST_TEST(which.wait().code == 128 + SIGTERM);
  }

  std::string at;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_losses_suite, losses_fixture)

BOOST_AUTO_TEST_CASE(somebody_else_closes_the_session) {
  auto running = start(lock(witness("w", {"stubborn", "child", file("c")})));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  const auto node = member("/l");
  const auto path = "/l/" + children("/l").at(0);
  cluster().expire(node.stat.ephemeral_owner);
  const auto closed = present();
  const auto result = running.wait();
  BOOST_TEST(result.code == 121, result.err);
  BOOST_TEST(last_sign_of("w") < closed + second);
  BOOST_TEST(last_sign_of("c") < closed + second);
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST(is_refused(path));
  auto next = start(lock(witness("n")));
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(member("/l").stat.czxid > node.stat.czxid);
  end(next);
}

BOOST_AUTO_TEST_CASE(somebody_deletes_the_node) {
  auto running = start(lock(witness("w")));
  BOOST_TEST_REQUIRE(begins("w"));
  remove("/l/" + children("/l").at(0));
  const auto result = running.wait();
  BOOST_TEST(result.code == 121, result.err);
  BOOST_TEST(is_gone("w"));
}

BOOST_AUTO_TEST_CASE(somebody_asks_for_the_lock) {
  auto running = start(lock(witness("w", {"child", file("c")})));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  revoke(30s);
  const auto result = running.wait();
  BOOST_TEST(result.code == 122);
  BOOST_TEST(result.err == "zkadmin: lock " + at + ": another client asks for it: the command is ended\n");
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_CASE(a_command_that_ignores_sigterm_is_killed_after_the_grace) {
  auto running = start(lock({"--grace", "200ms"}) + witness("w", {"stubborn", "child", file("c")}));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  revoke(30s);
  BOOST_TEST(running.wait().code == 122);
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
}

BOOST_AUTO_TEST_CASE(the_grace_of_the_one_that_asks_counts_if_it_is_shorter) {
  auto running = start(lock({"--grace", "1h"}) + witness("w", {"stubborn"}));
  BOOST_TEST_REQUIRE(begins("w"));
  auto next = follow("n");
  revoke(2s);
  BOOST_TEST(running.wait().code == 122);
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(last_sign_of("w") < begin_of("n"));
  end(next);
}

BOOST_AUTO_TEST_CASE(zkadmin_is_killed) {
  auto running = start(lock(witness("w", {"child", file("c")})));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  running.send(SIGKILL);
  BOOST_TEST(running.wait().code == 128 + SIGKILL);  // its other process has ended, too
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_CASE(the_keeper_is_killed) {
  auto running = start(lock({"--session-timeout", "4s"}) + witness("w", {"stubborn", "child", file("c")}));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  auto next = follow("n");
  ::kill(keeper_of(running), SIGKILL);
  BOOST_TEST(running.wait().code == 121);
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(last_sign_of("w") < begin_of("n"));
  BOOST_TEST(last_sign_of("c") < begin_of("n"));
  end(next);
}

BOOST_AUTO_TEST_CASE(the_keeper_is_stopped) {
  auto running = start(lock({"--session-timeout", "4s"}) + witness("w", {"stubborn", "child", file("c")}));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  auto next = follow("n");
  ::kill(keeper_of(running), SIGSTOP);
  BOOST_TEST(running.wait().code == 121);
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(last_sign_of("w") < begin_of("n"));
  BOOST_TEST(last_sign_of("c") < begin_of("n"));
  end(next);
}

BOOST_AUTO_TEST_CASE(the_release_can_not_be_confirmed) {
  auto running = start(words{"lock", at, "--hosts", own().address(), "--timeout", "300ms"} + witness("w"));
  BOOST_TEST_REQUIRE(begins("w"));
  own().freeze(true);
  running.send(SIGTERM);
  const auto result = running.wait();
  BOOST_TEST(result.code == 128 + SIGTERM);
  BOOST_TEST(result.err.find("note: the servers have not confirmed that it is given up") != std::string::npos,
             result.err);
  own().freeze(false);
  BOOST_TEST(gets_length("/l", 0));
}

BOOST_AUTO_TEST_CASE(the_place_in_line_is_removed) {
  auto held = take("/l");
  auto waiting = start(lock({"--", "true"}));
  BOOST_TEST_REQUIRE(gets_length("/l", 2));
  for (const auto& each : children("/l"))
    if ("/l/" + each != held.path()) remove("/l/" + each);
  const auto result = waiting.wait();
  BOOST_TEST(result.code == 122);
  run(held.async_release(tuple));
}

BOOST_AUTO_TEST_SUITE_END()
