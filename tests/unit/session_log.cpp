// What a session tells its log hook, and the failures in its status.
#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/log.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/zookeeper/c_client_calls.hpp"
#include "session/log.hpp"
#include "session/server_list.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct noted {
  log_severity severity;
  session_event event;
  std::string server;
  std::string operation;
  std::string path;
  error_code error;
  std::string line;
};

using notes_ptr = std::shared_ptr<std::vector<noted>>;

session_options logged(const notes_ptr& into, session_options options = fake_session::usual()) {
  options.log = [into](const log_event& each) {
    into->push_back({each.severity, each.event, std::string(each.server), std::string(each.operation),
                     std::string(each.path), each.error, to_string(each)});
  };
  return options;
}

struct log_case {
  notes_ptr notes = std::make_shared<std::vector<noted>>();

  /// The names of the events since the last call.
  strings events() {
    strings all;
    for (const auto& each : *notes) all.push_back(to_string(each.event));
    notes->clear();
    return all;
  }
  /// The latest event of this kind.
  noted latest(session_event event) {
    const auto is_it = [&](const noted& each) { return each.event == event; };
    const auto found = std::find_if(notes->rbegin(), notes->rend(), is_it);
    BOOST_TEST_REQUIRE((found != notes->rend()), to_string(event));
    return *found;
  }
};

error_code system_error(boost::system::errc::errc_t what) { return boost::system::errc::make_error_code(what); }

}  // namespace

#define CHECK_EVENTS(...) BOOST_TEST(events() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

BOOST_FIXTURE_TEST_SUITE(session_logs, log_case)

BOOST_AUTO_TEST_CASE(a_refused_port_is_told_at_once_and_counted_until_the_server_serves) {
  fake_session it(logged(notes));
  it.lose(system_error(boost::system::errc::connection_refused));
  const auto told = latest(session_event::connect_failed);
  BOOST_TEST((told.severity == log_severity::warning));
  BOOST_TEST(told.server == "127.0.0.1:1");
  BOOST_TEST((told.error == boost::system::errc::connection_refused));
  CHECK_EVENTS("connect_failed");
  auto failures = it.zk.status().failures;
  BOOST_TEST_REQUIRE(failures.size() == 1u);
  BOOST_TEST(failures[0].server == "127.0.0.1:1");
  BOOST_TEST((failures[0].reason == failure_reason::refused));
  BOOST_TEST((failures[0].error == boost::system::errc::connection_refused));
  BOOST_TEST(failures[0].count == 1u);
  it.advance(1s);
  it.lose();
  failures = it.zk.status().failures;
  BOOST_TEST_REQUIRE(failures.size() == 1u);
  BOOST_TEST((failures[0].reason == failure_reason::closed), "the last one");
  BOOST_TEST(failures[0].count == 2u);
  it.advance(1s);
  it.accept(0x77);
  BOOST_TEST(it.zk.status().failures.size() == 1u, "it has accepted, and answered nothing yet");
  it.answer();
  BOOST_TEST(it.zk.status().failures.empty());
}

BOOST_AUTO_TEST_CASE(failures_stand_in_the_status_without_a_log) {
  fake_session it;
  it.lose(system_error(boost::system::errc::host_unreachable));
  BOOST_TEST_REQUIRE(it.zk.status().failures.size() == 1u);
  BOOST_TEST((it.zk.status().failures[0].reason == failure_reason::unreachable));
}

BOOST_AUTO_TEST_CASE(a_silent_server_is_told_after_a_second_and_when_it_is_given_up) {
  fake_session it(logged(notes));
  it.advance(999ms);
  CHECK_EVENTS();
  it.advance(1ms);
  BOOST_TEST(latest(session_event::waiting_for_answer).server == "127.0.0.1:1");
  CHECK_EVENTS("waiting_for_answer");
  it.advance(3999ms);
  CHECK_EVENTS();
  it.advance(1ms);
  BOOST_TEST((latest(session_event::connect_failed).error == errc::timed_out));
  CHECK_EVENTS("connect_failed");
  BOOST_TEST((it.zk.status().failures.at(0).reason == failure_reason::silent));
}

BOOST_AUTO_TEST_CASE(a_connect_timeout_of_less_than_a_second_is_told_alone) {
  auto options = logged(notes);
  options.connect_timeout = 500ms;
  fake_session it(options);
  it.advance(500ms);
  CHECK_EVENTS("connect_failed");
}

BOOST_AUTO_TEST_CASE(each_error_has_its_reason) {
  using detail::reason_of;
  namespace system_errc = boost::system::errc;
  BOOST_TEST((reason_of(system_error(system_errc::connection_refused)) == failure_reason::refused));
  BOOST_TEST((reason_of(system_error(system_errc::network_unreachable)) == failure_reason::unreachable));
  BOOST_TEST((reason_of(system_error(system_errc::timed_out)) == failure_reason::unreachable), "by the system");
  BOOST_TEST((reason_of(errc::timed_out) == failure_reason::silent));
  BOOST_TEST((reason_of(errc::connection_loss) == failure_reason::closed));
  BOOST_TEST((reason_of(system_error(system_errc::connection_reset)) == failure_reason::closed));
  BOOST_TEST((reason_of(errc::auth_failed) == failure_reason::authentication));
  BOOST_TEST((reason_of(errc::read_only) == failure_reason::read_only));
  BOOST_TEST((reason_of(errc::session_expired) == failure_reason::session_refused));
  BOOST_TEST((reason_of(errc::no_descriptors) == failure_reason::no_descriptors));
  BOOST_TEST((reason_of(tls_errc::expired) == failure_reason::tls));
}

BOOST_AUTO_TEST_CASE(refused_credentials_are_an_error_and_the_end) {
  fake_session it(logged(notes));
  it.accept(0x77);
  notes->clear();
  it.lose(errc::auth_failed);
  const auto told = latest(session_event::authentication_failed);
  BOOST_TEST((told.severity == log_severity::error));
  BOOST_TEST(told.server == "127.0.0.1:1");
  CHECK_EVENTS("operation_failed", "connect_failed", "incarnation_ended", "authentication_failed", "closed");
  BOOST_TEST((it.zk.status().failures.at(0).reason == failure_reason::authentication));
}

BOOST_AUTO_TEST_CASE(names_without_an_address_are_told_and_forgotten_when_they_have_one) {
  fake_bench bench;
  bench.state().resolved["nowhere"];
  auto options = logged(notes);
  options.hosts = "nowhere:1,127.0.0.1:2";
  auto zk = bench.make_session(options);
  bench.settle();
  BOOST_TEST(latest(session_event::name_not_resolved).server == "nowhere:1");
  BOOST_TEST_REQUIRE(zk.status().failures.size() == 1u);
  BOOST_TEST((zk.status().failures[0].reason == failure_reason::unresolved));
  bench.state().resolved["nowhere"] = {{"127.0.0.1", 1}};
  bench.lose(system_error(boost::system::errc::connection_refused));
  BOOST_TEST(zk.status().failures.size() == 2u);
  bench.advance(1s);  // the next round
  BOOST_TEST_REQUIRE(zk.status().failures.size() == 1u);
  BOOST_TEST(zk.status().failures[0].server == "127.0.0.1:2");
}

BOOST_AUTO_TEST_CASE(a_life_in_events) {
  auto options = logged(notes);
  options.hosts = "127.0.0.1:1,127.0.0.1:2";
  fake_session it(options);
  it.connect(0x77);
  BOOST_TEST(latest(session_event::incarnation_begun).line.find("session 0x77") != std::string::npos);
  CHECK_EVENTS("connected", "incarnation_begun");
  const auto first = it.last().options.server;
  it.lose();
  while (it.last().options.server == first || !it.last().open) {
    it.lose();
    it.advance(100ms);
  }
  notes->clear();
  it.connect(0x77);
  CHECK_EVENTS("connected", "server_changed");
  it.lose(errc::timed_out);
  BOOST_TEST((latest(session_event::connection_lost).error == errc::timed_out));
  CHECK_EVENTS("connection_lost");
  it.lose(errc::session_expired);
  BOOST_TEST((latest(session_event::connect_failed).severity == log_severity::info));
  BOOST_TEST((latest(session_event::incarnation_ended).error == errc::session_expired));
  CHECK_EVENTS("connect_failed", "incarnation_ended");
  it.connect(0x88);
  notes->clear();
  auto closing = it.zk.async_close(it.begun());
  it.lose(errc::closed);
  CHECK_EVENTS("incarnation_ended", "closed");
}

BOOST_AUTO_TEST_CASE(a_root_that_is_missing_or_closed_to_us_is_told_on_connecting) {
  for (const auto answer : {errc::no_node, errc::no_auth}) {
    auto options = logged(notes);
    options.hosts = "127.0.0.1:1/app";
    fake_session it(options);
    it.connect();
    CHECK_PENDING_OF(it, "get_acl /app");
    notes->clear();
    it.fail(answer);
    const auto told = latest(answer == errc::no_node ? session_event::root_missing : session_event::root_closed);
    BOOST_TEST((told.path == "/app" && told.error == answer), told.line);
    BOOST_TEST(told.line.find(answer == errc::no_node ? "create_root" : "has no credentials") != std::string::npos);
    BOOST_TEST(notes->size() == 1u);
    notes->clear();
    it.reconnect();
    CHECK_PENDING_OF(it);  // once for each incarnation
  }
}

BOOST_AUTO_TEST_CASE(a_root_that_is_there_is_not_told_and_without_a_log_or_a_root_nobody_looks) {
  auto with_root = fake_session::usual();
  with_root.root = "/app";
  fake_session logs(logged(notes, with_root));
  logs.connect();
  notes->clear();
  logs.answer();
  CHECK_EVENTS();
  fake_session silent(with_root);
  silent.connect();
  CHECK_PENDING_OF(silent);
  fake_session rootless(logged(notes));
  rootless.connect();
  CHECK_PENDING_OF(rootless);
}

BOOST_AUTO_TEST_CASE(what_fails_is_told_with_operation_and_path) {
  auto options = logged(notes);
  options.root = "/app";
  options.jute_maxbuffer = 2000;
  options.retry.limit = 2s;
  fake_session it(options);
  it.connect();
  it.answer();  // the look at the root
  notes->clear();
  auto reading = it.zk.async_get("/a", it.begun());
  it.fail(errc::no_auth);
  auto told = latest(session_event::operation_failed);
  BOOST_TEST(told.operation == "get");
  BOOST_TEST(told.path == "/app/a");
  BOOST_TEST((told.error == errc::no_auth));
  BOOST_TEST((told.severity == log_severity::warning));
  it.zk.async_get("/b", reading.token());
  it.settle();
  it.fail(errc::no_node);
  told = latest(session_event::operation_failed);
  BOOST_TEST((told.severity == log_severity::debug), "an answer that a program may expect");
  auto writing = it.zk.async_commit(transaction().set("/c", std::string(2000, 'x')), it.begun());
  told = latest(session_event::operation_failed);
  BOOST_TEST(told.operation == "multi");
  BOOST_TEST(told.path == "/app/c");
  BOOST_TEST((told.error == errc::too_large));
  it.lose();
  it.zk.async_get("/d", reading.token());
  it.advance(2s);
  BOOST_TEST((reading.error() == errc::connection_loss));
  told = latest(session_event::operation_failed);
  BOOST_TEST(told.path == "/app/d");
  BOOST_TEST(told.line == "operation_failed get /app/d (no connection in time: it was not sent)");
}

BOOST_AUTO_TEST_CASE(a_failed_transaction_is_told_with_the_path_of_the_operation_that_failed) {
  fake_session it(logged(notes));
  it.connect();
  auto writing =
      it.zk.async_commit(transaction().check("/record").create("/missing/child").remove("/item"), it.begun());
  backend::reply refused;
  refused.error = errc::no_node;
  refused.results.resize(3);
  refused.results[0].error = refused.results[2].error = errc::rolled_back;
  refused.results[1].error = errc::no_node;
  it.answer(std::move(refused));
  BOOST_TEST(latest(session_event::operation_failed).path == "/missing/child");
}

BOOST_AUTO_TEST_CASE(a_watch_that_has_fired_is_removed_in_silence_and_another_failure_is_told) {
  fake_bench bench;
  const auto on = bench.make_scheduler();
  const detail::session_log log(*on, logged(notes));
  log.operation_ended(backend::opcode::forget_children, "/a", backend::from_c_client(ZNOWATCHER));
  BOOST_TEST(notes->empty());
  log.operation_ended(backend::opcode::forget_children, "/a", backend::from_c_client(ZSYSTEMERROR));
  BOOST_TEST((latest(session_event::operation_failed).severity == log_severity::warning));
}

BOOST_AUTO_TEST_CASE(the_end_of_a_lease_is_told_once_while_something_is_owned) {
  fake_session it(logged(notes));
  it.connect();
  it.lose();
  notes->clear();
  const auto core = it.zk.get_core();
  detail::condition lapsed(core->get_scheduler());
  const auto holder = core->add_holder(lapsed);
  it.advance(20s);
  BOOST_TEST((std::ranges::count(*notes, session_event::lease_lapsed, &noted::event) == 1));
  core->remove_holder(holder);
}

BOOST_AUTO_TEST_CASE(no_event_holds_a_secret_or_data) {
  auto options = logged(notes);
  options.root = "/app";
  options.digest.push_back({"user", "hush"});
  fake_session it(options);
  it.lose(system_error(boost::system::errc::connection_refused));
  it.advance(2s);
  it.connect();
  it.fail(errc::no_auth);
  auto writing = it.zk.async_set("/a", "hush", any_version, it.begun());
  it.fail(errc::no_auth);
  it.lose(errc::auth_failed);
  BOOST_TEST(notes->size() >= 5u);
  for (const auto& each : *notes) BOOST_TEST(each.line.find("hush") == std::string::npos, each.line);
}

BOOST_AUTO_TEST_CASE(an_event_as_a_line) {
  log_event event;
  event.event = session_event::operation_failed;
  event.operation = "get";
  event.path = "/a";
  event.error = errc::no_node;
  event.detail = "why\u009b31m\u202e\n";  // gives no orders to a terminal
  BOOST_TEST(to_string(event) ==
             "operation_failed get /a: the node, or the parent of the one to create, does not exist "
             "(why\\xc2\\x9b31m\\xe2\\x80\\xae\\x0a)");
  event = log_event();
  event.event = session_event::closed;
  event.error = errc::closed;
  BOOST_TEST(to_string(event) == "closed");
}

BOOST_AUTO_TEST_SUITE_END()

// What a session without a log of its own writes to standard error.
namespace {

/// Standard error is a pipe meanwhile.
class stderr_case {
 public:
  stderr_case() : before_(::dup(STDERR_FILENO)) {
    BOOST_TEST_REQUIRE(::pipe2(ends_.data(), O_CLOEXEC) == 0);
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    ::dup2(ends_[1], STDERR_FILENO);
    ::close(ends_[1]);
  }
  ~stderr_case() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    stop_reading();
  }
  std::string written() {
    std::string text(1 << 16, '\0');
    const auto size = ::read(ends_[0], text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }
  void stop_reading() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  /// By the default of the options.
  void tell(std::string_view server, log_severity severity = log_severity::warning) {
    const log_event event{severity,
                          session_event::connect_failed,
                          server,
                          {},
                          {},
                          boost::asio::error::connection_refused,
                          "nothing listens there"};
    session_options().log(event);
  }

 private:
  int before_;
  std::array<int, 2> ends_{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(log_to_standard_error, stderr_case)

BOOST_AUTO_TEST_CASE(a_warning_is_written_once_for_each_server) {
  for (int i = 0; i < 3; ++i) tell("192.0.2.1:2181");
  tell("192.0.2.2:2181");
  BOOST_TEST(written() ==
             "zkrecipes warning: connect_failed 192.0.2.1:2181: Connection refused (nothing listens there)\n"
             "zkrecipes warning: connect_failed 192.0.2.2:2181: Connection refused (nothing listens there)\n");
}

BOOST_AUTO_TEST_CASE(what_belongs_to_normal_work_is_not_written) {
  tell("192.0.2.3:2181", log_severity::info);
  BOOST_TEST(written().empty());
}

BOOST_AUTO_TEST_CASE(what_could_spoil_a_terminal_is_written_as_numbers) {
  tell("a\x1b[31m\xc2\x9b\n");
  BOOST_TEST(written().starts_with("zkrecipes warning: connect_failed a\\x1b[31m\\xc2\\x9b\\x0a: "));
}

BOOST_AUTO_TEST_CASE(nobody_is_waited_for) {
  for (int i = 0; i < 2'000; ++i) tell("192.0.2.4:" + std::to_string(i));
  BOOST_TEST(!written().empty());
  stop_reading();
  tell("192.0.2.5:2181");
}

// `poll` takes this socket for one that can be written to, as it takes a pipe whose reader leaves a moment later.
BOOST_AUTO_TEST_CASE(a_write_that_fails_raises_no_signal) {
  std::array<int, 2> sockets{};
  BOOST_TEST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  ::dup2(sockets[1], STDERR_FILENO);
  ::shutdown(sockets[1], SHUT_WR);
  static volatile std::sig_atomic_t signals;
  signals = 0;
  const auto before = std::signal(SIGPIPE, [](int) { signals = signals + 1; });
  tell("192.0.2.6:2181");
  std::signal(SIGPIPE, before);
  BOOST_TEST(signals == 0);
  for (int each : sockets) ::close(each);
}

BOOST_AUTO_TEST_SUITE_END()
