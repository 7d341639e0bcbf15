// For whom a peer may speak, who may take back what, and whom the places of a guardian are for.
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptor.hpp"
#include "guardian/guarding.hpp"
#include "held_process.hpp"
#include "process_identity.hpp"
#include "registry.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

struct identities_case : guarding {
  event_log quiet{[](std::string_view) {}};
  registry known{io.get_executor(), {}, {}, quiet, [](held_process_ptr, std::vector<held_session>) {}};
  std::uint64_t our_start = start_of(::getpid()).value();

  /// Why no guardian can listen there, without the path.
  std::string why_not_at(const std::string& path) {
    try {
      listener(io.get_executor(), {path, 0600, {}}, [](listener::socket) {});
      return {};
    } catch (const std::runtime_error& why) {
      return std::string(why.what()).substr(("socket " + path + ": ").size());
    }
  }

  std::string problem_with(const peer& by) { return known.admit(open_pidfd(::getpid()), by).problem; }
};

/// A socket at which this process listens.
descriptor listen_at(const std::string& path) {
  descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const boost::asio::local::stream_protocol::endpoint where(path);
  BOOST_TEST_REQUIRE(::bind(made.get(), where.data(), static_cast<socklen_t>(where.size())) == 0);
  BOOST_TEST_REQUIRE(::listen(made.get(), 8) == 0);
  return made;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(identities, identities_case)

BOOST_AUTO_TEST_CASE(the_number_of_a_peer_that_has_ended_stands_for_nobody) {
  const auto user = ::geteuid();
  BOOST_TEST(problem_with({::getpid(), our_start, user, 0}) == "");
  const std::string others = "the process is not the one that has connected";
  BOOST_TEST(problem_with({::getpid(), our_start - 1, user, 0}) == others, "the number was an earlier process's");
  BOOST_TEST(problem_with({::getpid(), 0, user, 0}) == others, "the peer had ended");
}

BOOST_AUTO_TEST_CASE(a_peer_is_known_by_its_start) {
  const auto listening = listen_at(options.socket.path);
  const talker ours(options.socket.path);
  const descriptor accepted(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const auto living = peer_of(accepted.get());
  BOOST_TEST_REQUIRE(living.has_value());
  BOOST_TEST(living->pid == ::getpid());
  BOOST_TEST(living->started == our_start);
  child gone([&](const child::orders&) { const talker theirs(options.socket.path); });
  gone.reap();
  const descriptor last(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const auto last_one = peer_of(last.get());
  BOOST_TEST_REQUIRE(last_one.has_value());
  BOOST_TEST(last_one->started == 0u);
}

/// The kernel refuses the reading of a file of /proc that was opened before its process had gone.
BOOST_AUTO_TEST_CASE(a_process_that_ends_while_it_is_looked_at_has_no_start) {
  for (int i = 0; i < 50; ++i) {
    const auto passing = ::fork();
    if (passing == 0) ::_exit(0);
    BOOST_TEST_REQUIRE(passing > 0);
    std::thread reaper([passing] { ::waitpid(passing, nullptr, 0); });
    BOOST_CHECK_NO_THROW(while (start_of(passing)));
    reaper.join();
  }
}

BOOST_AUTO_TEST_CASE(a_connection_that_fails_keeps_no_other_out) {
  const auto path = options.socket.path;
  int count = 0;
  listener to(io.get_executor(), {path, 0600, {}}, [&](listener::socket) {
    if (++count == 1) throw std::runtime_error("no memory for it");
  });
  to.start();
  const talker first(path), second(path);
  BOOST_CHECK_THROW(run_until([&] { return count == 2; }, "the second"), std::runtime_error);
  run_until([&] { return count == 2; }, "the second");
}

BOOST_AUTO_TEST_CASE(the_guardian_itself_is_nobodys_process) {
  const peer inherited{0, 0, ::geteuid(), 0};
  BOOST_TEST(problem_with(inherited) == "the process is not the one that has connected",
             "it could kill itself as hung");
  child other([](const child::orders& orders) { orders.wait(); });
  BOOST_TEST(known.admit(open_pidfd(other.pid()), inherited).problem == "");
}

BOOST_AUTO_TEST_CASE(each_client_is_told_how_much_is_held_of_its_own) {
  start();
  talker one(options.socket.path), other(options.socket.path);
  one.greet(0ms, std::string(32, 'a'));
  one.tell(session_of(1));
  one.tell(session_of(2));
  one.tell(term_of(2, "/e"));
  other.greet(0ms, std::string(32, 'b'));
  for (auto* each : {&one, &other}) each->tell(backend::guardian_complete());
  const auto count_told = [this](talker& by) {
    pollfd look{by.socket(), POLLIN, 0};
    run_until([&] { return ::poll(&look, 1, 0) == 1; }, "the answer");
    return backend::parse_guardian_answer(by.hear()).value().count.value();
  };
  BOOST_TEST((count_told(one) == backend::guarded_count{2, 1}));
  BOOST_TEST((count_told(other) == backend::guarded_count{0, 0}));
}

BOOST_AUTO_TEST_CASE(only_who_has_told_a_session_takes_it_back) {
  start();
  talker one(options.socket.path), other(options.socket.path);
  one.greet(0ms, std::string(32, 'a'));
  one.tell(session_of(1));
  one.tell(term_of(1, "/e"));
  run_until([&] { return guard->held().term_count() == 1u; }, "the term");
  other.greet(0ms, std::string(32, 'b'));
  other.tell(backend::guarded_term_end{1, "/e", term_of(1, "/e").node});
  other.tell(backend::guarded_session_end{1});
  other.tell(session_of(2));
  run_until([&] { return guard->held().session_count() == 2u; }, "the other session");
  BOOST_TEST(guard->held().term_count() == 1u);
  one.tell(backend::guarded_session_end{1});
  run_until([&] { return guard->held().session_count() == 1u; }, "the end of the first one");
}

BOOST_AUTO_TEST_CASE(a_peer_that_says_no_hello_gives_its_place_back) {
  options.most.hello = 50ms;
  options.most.connections = 2;
  start();
  talker silent(options.socket.path), halting(options.socket.path);
  halting.send("{\"type\":");
  run_until([&] { return guard->connection_count() == 2u; }, "the connections");
  run_until([&] { return guard->connection_count() == 0u; }, "their ends");
  const auto answer = backend::parse_guardian_answer(silent.hear());
  BOOST_TEST_REQUIRE(answer.has_value());
  BOOST_TEST(answer->reason == "no hello has come");
  talker good(options.socket.path);
  good.greet();
  good.tell(session_of(1));
  run_until([&] { return guard->held().session_count() == 1u; }, "the session");
  run_for(100ms);
  BOOST_TEST(guard->connection_count() == 1u, "hello was in time, and nothing more is due");
}

BOOST_AUTO_TEST_CASE(all_users_together, *boost::unit_test::precondition(as_root)) {
  options.most.users = 1;
  options.most.sessions = 2;
  options.socket.mode = 0666;
  ::chmod(folder.path.c_str(), 0755);
  start();
  talker ours(options.socket.path);
  ours.greet();
  ours.tell(session_of(1));
  ours.tell(session_of(2));
  run_until([&] { return guard->held().session_count() == 2u; }, "the sessions");
  const auto path = options.socket.path;
  child other([&](const child::orders& orders) {
    if (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0) return;
    talker to(path);
    to.greet();
    to.tell(session_of(3));
    orders.report('t');
    orders.wait();
    to.tell(session_of(4));
    orders.wait();
  });
  run_until_reported(other, 't');
  run_until_logged("all users together have too many sessions");
  ours.tell(backend::guarded_session_end{1});
  run_until([&] { return guard->held().session_count() == 1u; }, "what one gives back");
  other.order('g');
  run_until([&] { return guard->held().session_count() == 2u; }, "another one gets");
}

/// They stand beside those of nobody in particular.
BOOST_AUTO_TEST_CASE(descriptors_of_unknown_peers_keep_no_user_out) {
  const limits most{.closing = 1};
  constexpr uid_t someone = 64'123;  // descriptors of other cases are closed for another user, if late
  const auto no_user = static_cast<uid_t>(-1);
  user_account one(someone, most, std::make_shared<user_account>(no_user, most));
  const background_closer::pause none_is_closed;
  const auto leave_one_of = [](uid_t user) {
    background_closer::of_process().close(user, ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  };
  leave_one_of(no_user);
  BOOST_TEST(one.take_connection() == "");
  leave_one_of(someone);
  BOOST_TEST(one.take_connection() == "descriptors of the user are still being closed");
}

BOOST_AUTO_TEST_CASE(two_guardians_that_start_at_once_are_one) {
  const auto path = options.socket.path;
  {
    const descriptor starting(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    BOOST_TEST_REQUIRE(::flock(starting.get(), LOCK_EX) == 0);
    listen_at(path);  // and nobody any more
    BOOST_TEST(why_not_at(path) == "another process, such as a guardian, has locked " + path + ".lock");
    struct stat there {};
    BOOST_TEST(::lstat(path.c_str(), &there) == 0, "the socket is the other one's to take away");
  }
  BOOST_TEST(why_not_at(path) == "");
  BOOST_TEST(!std::ifstream(path + ".lock").is_open(), "removed");
}

/// A connection to it would have to wait.
BOOST_AUTO_TEST_CASE(a_guardian_that_is_stopped_holds_up_no_other) {
  const auto path = options.socket.path;
  const descriptor stopped(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const boost::asio::local::stream_protocol::endpoint where(path);
  BOOST_TEST_REQUIRE(::bind(stopped.get(), where.data(), static_cast<socklen_t>(where.size())) == 0);
  BOOST_TEST_REQUIRE(::listen(stopped.get(), 0) == 0);
  const talker waiting(path);
  BOOST_TEST(why_not_at(path) == "another process, such as a guardian, listens there");
}

BOOST_AUTO_TEST_CASE(a_path_that_can_not_be_taken_is_told_for_what_is_known) {
  const auto path = options.socket.path;
  {
    const descriptor listening = listen_at(path);
    BOOST_TEST(why_not_at(path) == "another process, such as a guardian, listens there");
    const shortage_of_descriptors all_but_the_lock_s(1);
    BOOST_TEST(why_not_at(path) == "Too many open files");
  }
  ::unlink(path.c_str());
  const descriptor datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const boost::asio::local::stream_protocol::endpoint where(path);
  BOOST_TEST_REQUIRE(::bind(datagrams.get(), where.data(), static_cast<socklen_t>(where.size())) == 0);
  BOOST_TEST(why_not_at(path) == "there is a socket of another type");
}

BOOST_AUTO_TEST_CASE(a_peer_that_can_not_be_looked_at_for_want_of_descriptors_is_told_so) {
  const auto listening = listen_at(options.socket.path);
  const talker ours(options.socket.path);
  const descriptor accepted(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  for (const int left : {0, 1}) {  // the pidfd of the peer takes one, and the file of its start another one
    const auto seen = [&] {
      const shortage_of_descriptors here(left);
      return peer_of(accepted.get());
    }();
    BOOST_TEST_REQUIRE(seen.has_value());
    const bool is_file_missing = left == 0 || seen->trouble;  // kernels before 6.5 have no pidfd of the peer
    if (is_file_missing) BOOST_TEST(problem_with(*seen) == "the peer could not be looked at: Too many open files");
  }
}

BOOST_AUTO_TEST_SUITE_END()
