// What the guardian refuses, and that its limits hold for the user who reaches them.
#include <csignal>
#include <filesystem>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.hpp"
#include "guardian/guarding.hpp"
#include "process_identity.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

constexpr unsigned pidfd_of_thread = O_EXCL;  // PIDFD_THREAD, since Linux 6.9

const std::string hello = *backend::to_line(backend::guardian_hello{std::string(32, 'c'), 0ms});

struct refusals_case : guarding {
  /// The guardian answers this talker with a line that has the text, and closes.
  void check_refused(talker& by, const std::string& text) {
    run_until_logged(text);
    const auto answer = backend::parse_guardian_answer(by.hear());
    BOOST_TEST_REQUIRE(answer.has_value(), text);
    BOOST_TEST((answer->type == backend::guardian_answer::kind::refused), text);
    BOOST_TEST(answer->reason.find(text) != std::string::npos, answer->reason);
    BOOST_TEST(by.hear() == "", "closed");
    log.clear();
  }
  /// This is refused as the first words on a connection.
  void refuse(const std::string& bytes, const std::vector<int>& descriptors, const std::string& text) {
    talker by(options.socket.path);
    by.send(bytes, descriptors);
    check_refused(by, text);
    BOOST_TEST(guard->held().process_count() == 0u);
  }
  /// The test itself as a process that is held.
  std::unique_ptr<talker> held_talker() {
    auto made = std::make_unique<talker>(options.socket.path);
    made->greet();
    made->tell(session_of(1));
    run_until([&] { return guard->held().session_count() == 1u; }, "the session");
    return made;
  }
};

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

void wait_for_closer() {
  const auto& all = background_closer::of_process();
  const auto are_pending = [&](uid_t user) { return all.pending(user) > 0; };
  while (are_pending(::geteuid()) || are_pending(nobody) || are_pending(static_cast<uid_t>(-1))) {
    std::this_thread::yield();
  }
}

bool has_thread_pidfds() { return bool(open_pidfd(::getpid(), pidfd_of_thread)); }

boost::test_tools::assertion_result with_thread_pidfds(boost::unit_test::test_unit_id) { return has_thread_pidfds(); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(refusals, refusals_case)

BOOST_AUTO_TEST_CASE(first_words_that_are_no_hello_with_a_pidfd) {
  start();
  const auto pidfd = open_pidfd(::getpid());
  const descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  refuse(hello, {}, "one descriptor");
  refuse(hello, {pidfd.get(), pidfd.get()}, "one descriptor");
  refuse(hello, {file.get()}, "no pidfd");
  refuse("{\"type\":\"ping\"}\n", {pidfd.get()}, "the first message is no hello");
  refuse("hello\n", {pidfd.get()}, "not a JSON object");
  refuse("\n", {pidfd.get()}, "not a JSON object");
  refuse(std::string("\0\0\n", 3), {pidfd.get()}, "not a JSON object");
  refuse(std::string(backend::longest_line, 'x'), {pidfd.get()}, "the line is too long");
  refuse(std::string(30'000, '[') + "\n", {}, "not a JSON object");
}

BOOST_AUTO_TEST_CASE(more_descriptors_than_there_is_room_for_are_not_kept) {
  start();
  talker warm(options.socket.path);  // so that the guardian has opened what it needs
  run_until([&] { return guard->connection_count() == 1u; }, "the connection");
  const auto pidfd = open_pidfd(::getpid());
  wait_for_closer();  // those of other cases
  const auto before = open_descriptors();
  refuse(hello, std::vector<int>(60, pidfd.get()), "one descriptor");
  run_until([&] { return guard->connection_count() == 1u; }, "the end of the connection");
  wait_for_closer();
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(the_pidfd_of_one_thread, *boost::unit_test::precondition(with_thread_pidfds)) {
  start();
  const auto pidfd = open_pidfd(::getpid(), pidfd_of_thread);
  refuse(hello, {pidfd.get()}, "a single thread");
}

BOOST_AUTO_TEST_CASE(the_process_of_another_user, *boost::unit_test::precondition(as_root)) {
  options.socket.mode = 0666;
  ::chmod(folder.path.c_str(), 0755);
  start();
  const auto other = open_pidfd(::getpid());  // root's
  const auto path = options.socket.path;
  child peer([&](const child::orders& orders) {
    const auto of_root = open_pidfd(::getppid());
    if (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0) return;
    talker to(path);
    to.send(hello, {of_root.get()});
    const auto answer = backend::parse_guardian_answer(to.hear());
    const bool is_refused = answer && answer->type == backend::guardian_answer::kind::refused;
    orders.report(is_refused ? 'r' : 'x');
  });
  run_until_reported(peer, 'r');
  BOOST_TEST(has_logged("another user's"));
  BOOST_TEST(has_logged("uid=65534"));
  BOOST_TEST(guard->held().process_count() == 0u);
}

// Another container may run as the same user.
BOOST_AUTO_TEST_CASE(another_process_of_the_same_user) {
  start();
  child other([](const child::orders& orders) {
    orders.report('r');
    orders.wait();
  });
  run_until_reported(other, 'r');
  const auto pidfd = open_pidfd(other.pid());
  refuse(*backend::to_line(backend::guardian_hello{std::string(32, 'c'), 100ms}), {pidfd.get()},
         "not the one that has connected");
  BOOST_TEST(other.is_alive());
}

BOOST_AUTO_TEST_CASE(a_process_whose_effective_user_is_not_the_peers) {
  const auto pidfd = open_pidfd(::getpid());
  const auto ours = identify_process(pidfd.get(), ::geteuid());
  BOOST_TEST(ours.problem == "");
  BOOST_TEST_REQUIRE(ours.who.has_value());
  BOOST_TEST(ours.who->pid == ::getpid());
  const auto others = identify_process(pidfd.get(), ::geteuid() + 1);
  BOOST_TEST(others.problem == "the process is another user's");
  BOOST_TEST(!others.who.has_value());
}

BOOST_AUTO_TEST_CASE(a_process_that_has_become_another_users_is_not_killed, *boost::unit_test::precondition(as_root)) {
  child peer([&](const child::orders& orders) {
    if (::setresuid(nobody, nobody, 0) != 0) return;  // as a program with the set-user-id bit can be
    orders.report('r');
    orders.wait();
  });
  run_until_reported(peer, 'r');
  const auto pidfd = open_pidfd(peer.pid());
  BOOST_TEST(kill_process(pidfd.get(), peer.pid(), nobody) == "the process has become another user's");
  BOOST_TEST(kill_process(pidfd.get(), peer.pid(), 0) == "the process has become another user's");
  BOOST_TEST(peer.is_alive());
}

BOOST_AUTO_TEST_CASE(later_words_that_are_refused_leave_what_is_held) {
  start();
  const std::vector<std::pair<std::string, std::string>> words{
      {hello, "hello came twice"}, {"{\"type\":\"sesame\"}\n", "type"}, {"{}\n", "type"}};
  for (const auto& [bytes, why] : words) {
    auto by = held_talker();
    by->send(bytes);
    check_refused(*by, why);
    BOOST_TEST(guard->held().session_count() == 1u, "until the process is dead");
  }
  const descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto by = held_talker();
  by->send("{\"type\":\"ping\"}\n", {file.get()});
  check_refused(*by, "other than the first");
}

BOOST_AUTO_TEST_CASE(a_term_of_an_unknown_session_is_not_taken) {
  start();
  auto by = held_talker();
  by->tell(term_of(99, "/e"));
  run_until_logged("the session of the term was not told");
  BOOST_TEST((backend::parse_guardian_answer(by->hear())->type == backend::guardian_answer::kind::full));
  by->tell(term_of(1, "/e"));
  run_until([&] { return guard->held().term_count() == 1u; }, "the connection goes on");
}

BOOST_AUTO_TEST_CASE(limits_of_a_user) {
  options.most.connections = 3;
  options.most.sessions = 4;
  options.most.terms = 5;
  start();
  auto by = held_talker();
  for (std::int64_t id = 2; id <= 6; ++id) by->tell(session_of(id));
  run_until_logged("too many sessions");
  BOOST_TEST(guard->held().session_count() == 4u);
  for (int i = 0; i < 9; ++i) by->tell(term_of(1, "/e" + std::to_string(i)));
  by->tell(backend::guardian_complete());
  run_until([&] { return guard->held().term_count() == 5u; }, "the terms");
  by->tell(backend::guarded_session_end{1});
  run_until([&] { return guard->held().term_count() == 0u; }, "what is taken back makes room");
  by->tell(session_of(6));
  run_until([&] { return guard->held().session_count() == 4u; }, "the session");
  const talker second(options.socket.path), third(options.socket.path);
  run_until([&] { return guard->connection_count() == 3u; }, "the connections");
  talker fourth(options.socket.path);
  check_refused(fourth, "too many connections");
}

BOOST_AUTO_TEST_CASE(what_there_was_no_room_for_is_left_to_its_time_out) {
  options.most.sessions = 2;
  options.most.terms = 1;
  start();
  const auto path = options.socket.path;
  child leader([&](const child::orders& orders) {
    talker to(path);
    to.greet();
    for (std::int64_t id = 1; id <= 3; ++id) {
      to.tell(session_of(id));
      to.tell(term_of(id, "/e" + std::to_string(id)));
    }
    orders.report('r');
    orders.wait();
  });
  run_until_reported(leader, 'r');
  leader.signal(SIGKILL);
  run_until([&] { return ended.size() >= 2u; }, "the ends of two sessions");
  run_until_logged("process_ended");
  BOOST_TEST_REQUIRE(ended.size() == 2u);
  BOOST_TEST_REQUIRE(ended[0].terms.size() == 1u);
  BOOST_TEST(ended[0].terms[0].record == "/e1");
  BOOST_TEST(ended[1].session.key.id == 2);
  BOOST_TEST(ended[1].terms.empty());
}

BOOST_AUTO_TEST_CASE(memory_of_a_user) {
  options.most.bytes = 50'000;
  start();
  auto by = held_talker();
  const std::string long_name(1'000, 'n');
  for (int i = 0; i < 60; ++i) by->tell(backend::guarded_term{1, "/" + long_name + std::to_string(i), "n", {}});
  by->tell(backend::guardian_complete());
  run_until_logged("too much is held");
  run_until([&] { return guard->held().term_count() > 10u; }, "the first ones");
  BOOST_TEST(guard->held().term_count() < 30u);
}

BOOST_AUTO_TEST_CASE(a_peer_that_floods_harms_itself_only) {
  options.most.burst = 1'000;
  options.most.rate = 1'000;
  start();
  const auto path = options.socket.path;
  child flooder([&](const child::orders& orders) {
    talker to(path);
    to.greet();
    to.tell(session_of(1));
    to.complete();
    orders.report('r');
    for (int i = 0; to.tell(term_of(2, "/" + std::to_string(i)));
         ++i) {  // until it is closed, because it does not read
    }
    orders.report('c');
    orders.wait();
  });
  run_until_reported(flooder, 'r');
  for (int i = 0; i < 5; ++i) see_another_death();
  run_until_reported(flooder, 'c');
  BOOST_TEST(log.size() < 100u);
  BOOST_TEST(flooder.is_alive());
  BOOST_TEST(endings_of(1) == 0u);
  flooder.signal(SIGKILL);
  run_until_ended(1);
}

BOOST_AUTO_TEST_CASE(a_user_who_connects_all_the_time_does_not_fill_the_log) {
  options.most.connections = 1;
  start();
  const talker first(options.socket.path);
  run_until([&] { return guard->connection_count() == 1u; }, "the connection");
  for (int i = 0; i < 1'000; ++i) {
    talker more(options.socket.path);
    BOOST_TEST_REQUIRE(more.send("{}\n"));
    io.restart();
    io.poll();
  }
  BOOST_TEST(log.size() < 2 * event_log::burst);
}

BOOST_AUTO_TEST_CASE(no_line_of_the_log_holds_a_secret) {
  start();
  auto by = held_talker();
  by->send("{\"type\":\"session\",\"id\":\"1\",\"password\":\"hush\"}\n");
  run_until_logged("refused");
  see_another_death();
  run_until_logged("session_ended");
  for (const auto& each : log) {
    BOOST_TEST(each.find("hush") == std::string::npos, each);
    BOOST_TEST(each.find("0123456789abcdef") == std::string::npos, each);
  }
}

BOOST_AUTO_TEST_CASE(the_place_of_the_socket) {
  options.socket.mode = 0600;
  start();
  struct stat there {};
  BOOST_TEST_REQUIRE(::lstat(options.socket.path.c_str(), &there) == 0);
  BOOST_TEST((there.st_mode & 07777) == 0600u);
  const auto make = [&](const listener::place& where) { listener(io.get_executor(), where, [](listener::socket) {}); };
  BOOST_CHECK_THROW(make(options.socket), std::runtime_error);  // one listens there
  BOOST_CHECK_THROW(make({"/" + std::string(200, 'a'), 0600, {}}), std::runtime_error);
  BOOST_CHECK_THROW(make({folder.path, 0600, {}}), std::runtime_error);  // a folder
  BOOST_CHECK_THROW(make({folder.path + "/b", 0600, "no such group"}), std::runtime_error);
  ::unlink((folder.path + "/b").c_str());
  guard.reset();
  BOOST_TEST(::lstat(options.socket.path.c_str(), &there) != 0, "removed");
}

BOOST_AUTO_TEST_CASE(the_socket_of_a_guardian_that_was_killed_is_taken) {
  const auto path = options.socket.path;
  child killed([&](const child::orders& orders) {
    asio::io_context its_own;
    const listener left(its_own.get_executor(), {path, 0600, {}}, [](listener::socket) {});
    orders.report('l');
    orders.wait();
  });
  run_until_reported(killed, 'l');
  BOOST_CHECK_THROW(start(), std::runtime_error);
  killed.signal(SIGKILL);
  killed.wait_for_end();
  struct stat there {};
  BOOST_TEST(::lstat(path.c_str(), &there) == 0, "its socket is left");
  guard.reset();
  start();
  see_another_death();
}

BOOST_AUTO_TEST_SUITE_END()
