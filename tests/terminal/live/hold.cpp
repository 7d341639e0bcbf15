// `zkadmin lock` and `zkadmin lead` against real servers.
#include <signal.h>

#include "live/hold_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

// `zkadmin lead` against real servers.

namespace {

using words = std::vector<std::string>;

struct lead_fixture : hold_fixture {
  lead_fixture() : at(root() + "/e") { leaves("/e"); }
  words lead(const words& more) const { return words{"lead", at} + more; }
  program_result resign() { return finish({"resign", at, "--rw"}); }

  std::string at;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lead_suite, lead_fixture)

BOOST_AUTO_TEST_CASE(one_leads_and_the_next_follows) {
  auto first = start(lead({"--id", "a"}) + witness("a"));
  BOOST_TEST_REQUIRE(begins("a"));
  BOOST_TEST(finish(lead({"--try", "--", "true"})).code == 123);
  auto second = start(lead({"--id", "b"}) + witness("b"));
  BOOST_TEST_REQUIRE(gets_length("/e", 2));
  BOOST_TEST(begin_of("b") == 0);
  first.send(SIGTERM);
  BOOST_TEST(first.wait().code == 128 + SIGTERM);
  BOOST_TEST(begins("b"));
  BOOST_TEST(last_sign_of("a") < begin_of("b"));
  second.send(SIGTERM);
  BOOST_TEST(second.wait().code == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_request_to_resign_ends_the_command) {
  auto running = start(lead(witness("w")));
  BOOST_TEST_REQUIRE(begins("w"));
  const auto asked = resign();
  BOOST_TEST(asked.code == 0, asked.err);
  const auto result = running.wait();
  BOOST_TEST(result.code == 122);
  BOOST_TEST(result.err == "zkadmin: leadership " + at + ": another client asks for it: the command is ended\n");
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(length("/e") == 0);
}

BOOST_AUTO_TEST_CASE(again_leads_once_more) {
  auto running = start(lead({"--again"}) + witness("w"));
  BOOST_TEST_REQUIRE(begins("w"));
  const auto first = begin_of("w");
  const auto token = member("/e").stat.czxid;
  BOOST_TEST(resign().code == 0);
  BOOST_TEST_REQUIRE(run_until([&] { return begin_of("w") > first; }));
  BOOST_TEST(member("/e").stat.czxid > token);
  const auto second = begin_of("w");
  cluster().expire(member("/e").stat.ephemeral_owner);
  BOOST_TEST_REQUIRE(run_until([&] { return begin_of("w") > second; }));
  running.send(SIGTERM);
  BOOST_TEST(running.wait().code == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_signal_while_the_command_is_being_ended_is_not_lost) {
  auto running = start(lead({"--again", "--grace", "5s"}) + witness("w", {"stubborn"}));
  BOOST_TEST_REQUIRE(begins("w"));
  const auto first = begin_of("w");
  BOOST_TEST(resign().code == 0);
  BOOST_TEST_REQUIRE(run_until([&] { return running.err().find("the command is ended") != std::string::npos; }));
  running.send(SIGTERM);
  BOOST_TEST(running.wait().code == 128 + SIGTERM);
  BOOST_TEST(begin_of("w") == first, "it does not lead once more");
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(length("/e") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin lock` and `zkadmin lead` in a tree that is not open to everybody.

namespace {

const acl_entry everybody{perm_read | perm_create | perm_delete, "world", "anyone"};

struct rights_fixture : hold_fixture {
  rights_fixture() {
    auto mine = options();
    mine.digest.push_back({"admin", "topsecret"});
    owner = connect(mine);
  }
  void teardown() {
    owner.reset();
    admin_fixture::teardown();
  }

  /// Closed to others but for what they need to be in line, and to clear up.
  void make_closed(const std::string& name) {
    leaves(name);
    const auto made =
        run(owner->async_create(name, "", create_mode::persistent, {{perm_all, "auth", ""}, everybody}, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  }

  acl acl_of(const std::string& name) {
    settle(*owner);
    return std::get<1>(run(owner->async_get_acl(name, tuple)));
  }

  running_program start_as_admin(const std::string& command, const std::string& name, const words& more = {}) {
    return start(words{command, root() + name} + more + witness("w"), {{"ZKADMIN_DIGEST", "admin:topsecret"}});
  }

  /// The place in line at `name` has this ACL. Ends the command.
  void check_place(running_program& running, const std::string& name, const acl& expected) {
    BOOST_TEST_REQUIRE(begins("w"));
    const auto place = name + "/" + children(name).at(0);
    BOOST_TEST((acl_of(place) == expected));
    running.send(SIGTERM);
    const auto ended = running.wait();
    BOOST_TEST(ended.code == 128 + SIGTERM);
    BOOST_TEST(ended.err == "");
    BOOST_TEST(length(name) == 0);
  }

  std::optional<session> owner;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hold_rights_suite, rights_fixture)

BOOST_AUTO_TEST_CASE(a_place_in_line_has_the_acl_of_the_line) {
  make_closed("/l");
  for (const std::string command : {"lock", "lead"}) {
    auto running = start_as_admin(command, "/l");
    BOOST_TEST_REQUIRE(begins("w"));
    const auto place = "/l/" + children("/l").at(0);
    BOOST_TEST(std::get<0>(run(zk().async_set(place, "other", any_version, tuple))) == errc::no_auth);
    check_place(running, "/l", acl_of("/l"));
    std::filesystem::remove(file("w"));
  }
}

BOOST_AUTO_TEST_CASE(permits_have_the_acl_of_the_semaphore) {
  make_closed("/s");
  auto running = start_as_admin("lock", "/s", {"-n", "2"});
  BOOST_TEST_REQUIRE(begins("w"));
  for (const auto& each : children("/s")) BOOST_TEST((acl_of("/s/" + each) == acl_of("/s")), each);
  running.send(SIGTERM);
  BOOST_TEST(running.wait().code == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_line_that_is_made_has_the_acl_of_the_nearest_node_above) {
  make_closed("/app");
  leaves("/app/jobs");
  leaves("/app/jobs/report");
  auto running = start_as_admin("lock", "/app/jobs/report");
  BOOST_TEST_REQUIRE(begins("w"));
  const auto closed = acl_of("/app");
  BOOST_TEST((acl_of("/app/jobs") == closed));
  BOOST_TEST((acl_of("/app/jobs/report") == closed));
  check_place(running, "/app/jobs/report", closed);
}

BOOST_AUTO_TEST_CASE(an_open_line_stays_open) {
  leaves("/l");
  create("/l");
  auto running = start_as_admin("lock", "/l");
  check_place(running, "/l", open_acl());
}

// Its place could not have the ACL that is hidden from it, and would be open.
BOOST_AUTO_TEST_CASE(nobody_gets_in_line_to_whom_the_acl_is_hidden) {
  make_closed("/l");
  for (const std::string command : {"lock", "lead"}) {
    BOOST_TEST(fails(finish({command, root() + "/l", "--", "true"}), 125,
                     "the ACL of " + root() + "/l is hidden from these credentials"));
  }
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin lock` on a terminal: the command has it, and the job control of a shell works.

namespace {

struct on_terminal_fixture : hold_fixture {
  on_terminal_fixture() { leaves("/l"); }

  pseudo_terminal::variables variables() const {
    return {{"ZKADMIN_HOSTS", hosts}, {"PATH", "/usr/bin:/bin"}, {"PS1", "prompt> "},
            {"TERM", "dumb"},         {"HOME", file("")},        {"Z", ZKADMIN_PROGRAM},
            {"W", WITNESS_PROGRAM},   {"L", root() + "/l"},      {"S", file("script")}};
  }
  void start_shell(pseudo_terminal& terminal) {
    terminal.start({"/bin/bash", "--norc", "--noprofile", "-i"}, variables());
    BOOST_TEST_REQUIRE(terminal.shows("prompt>"));
    BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  }
  /// The shell reads each key by itself while it waits for a command, and leaves whole lines to one that runs.
  bool is_at_prompt(pseudo_terminal& terminal, bool wanted) {
    const bool is_so = terminal.wait_until([&] { return ((terminal.modes().c_lflag & ICANON) == 0) == wanted; });
    if (!is_so) BOOST_TEST_MESSAGE("the modes are not as expected:\n" << terminal.screen().text());
    return is_so;
  }
  void exit_shell(pseudo_terminal& terminal) {
    BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
    terminal.type("exit 5\r");
    BOOST_TEST(terminal.exit_code() == 5);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_terminal_suite, on_terminal_fixture)

BOOST_AUTO_TEST_CASE(the_command_has_the_terminal) {
  const auto script = write("script", "test -t 0 && test -t 1 && test -t 2 && read x && echo heard $x\n");
  pseudo_terminal terminal(io(), 100, 30);
  terminal.start({ZKADMIN_PROGRAM, "lock", root() + "/l", "--", "sh", script}, variables());
  BOOST_TEST_REQUIRE(gets_length("/l", 1));
  terminal.type("something\r");
  BOOST_TEST(terminal.shows("heard something"));
  BOOST_TEST(terminal.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(a_job_is_stopped_and_goes_on) {
  write("script", "echo begun $((1 + 1))\nread x\necho heard $x $((1 + 2))\nexit 4\n");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("$Z lock $L -- bash $S\r");
  BOOST_TEST_REQUIRE(terminal.shows("begun 2"));
  terminal.type("\x1a");
  BOOST_TEST(terminal.shows("Stopped"));
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  BOOST_TEST(length("/l") == 1);
  terminal.type("fg\r");
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, false));
  terminal.type("a word\r");
  BOOST_TEST(terminal.shows("heard a word 3"));
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  terminal.type("echo status $?\r");
  BOOST_TEST(terminal.shows("status 4"));
  exit_shell(terminal);
}

BOOST_AUTO_TEST_CASE(a_job_that_is_stopped_while_it_waits_begins_when_it_goes_on) {
  write("script", "echo begun $((1 + 1))\n");
  auto held = take("/l");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("$Z lock $L -- bash $S\r");
  BOOST_TEST_REQUIRE(gets_length("/l", 2));
  terminal.type("\x1a");
  BOOST_TEST(terminal.shows("Stopped"));
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  run(held.async_release(tuple));
  BOOST_TEST(gets_length("/l", 1));
  BOOST_TEST(terminal.screen().text().find("begun 2") == std::string::npos);
  terminal.type("fg\r");
  BOOST_TEST(terminal.shows("begun 2"));
  exit_shell(terminal);
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_the_command_once) {
  write("script",
        "n=0\ntrap 'n=$((n + 1)); echo interrupted' INT\necho $$ >${HOME}pid\necho begun $((1 + 1))\n"
        "until read x; do :; done\necho heard $x $n\n");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("$Z lock $L -- bash $S\r");
  BOOST_TEST_REQUIRE(terminal.shows("begun 2"));
  // A signal that comes shortly before bash reads is not noticed before it has read something.
  BOOST_TEST_REQUIRE(sleeps("pid"));
  terminal.type("\x03");
  BOOST_TEST_REQUIRE(terminal.shows("interrupted"));
  terminal.type("a word\r");
  BOOST_TEST(terminal.shows("heard a word 1"));
  exit_shell(terminal);
}

BOOST_AUTO_TEST_CASE(a_script_stops_at_ctrl_c) {
  write("script", "for i in 1 2; do $Z lock $L -- $W ${HOME}w$i; done\n");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("bash $S\r");
  BOOST_TEST_REQUIRE(begins("w1"));
  terminal.type("\x03");
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  BOOST_TEST(begin_of("w2") == 0);
  BOOST_TEST(is_gone("w1"));
  exit_shell(terminal);
}

// The kernel sends SIGHUP to the leader of the session alone, which is zkadmin here.
BOOST_AUTO_TEST_CASE(the_command_gets_the_signal_when_the_terminal_goes) {
  pseudo_terminal terminal(io(), 100, 30);
  terminal.start(std::vector<std::string>{ZKADMIN_PROGRAM, "lock", root() + "/l"} + witness("w"), variables());
  BOOST_TEST_REQUIRE(begins("w"));
  terminal.hang_up();
  BOOST_TEST(terminal.exit_code() == 128 + SIGHUP);
  BOOST_TEST(is_gone("w"));
}

BOOST_AUTO_TEST_SUITE_END()
