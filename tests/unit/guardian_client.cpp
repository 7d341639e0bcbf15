// What a session tells the guardian of its machine, and what comes of a guardian that is absent, refuses, or ends.
#include "session/guardian_client.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/log.hpp>

#include "backend/guardian/guardian_stream.hpp"
#include "support/temporary_folder.hpp"
#include "unit/coordinating.hpp"
#include "unit/guarded_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using backend::guardian_answer;
using backend::guardian_message;

BOOST_FIXTURE_TEST_SUITE(guardian_clients, guarded_case)

BOOST_AUTO_TEST_CASE(without_the_option_nobody_is_called) {
  fake_session alone;
  alone.connect();
  BOOST_TEST(alone.state().guardians.empty());
  BOOST_TEST(!alone.zk.status().is_guarded);
}

BOOST_AUTO_TEST_CASE(everything_that_there_is_is_told_when_the_guardian_is_up) {
  BOOST_TEST(guardian().path == "/run/guardian.sock");
  it->connect(0x77);
  const auto one = lead("/e", "_c_1", "/e/_c_1");
  BOOST_TEST(guardian().heard.empty(), "not before it is up");
  take();
  const auto hello = std::get<backend::guardian_hello>(guardian().heard.at(0));
  BOOST_TEST(hello.client.size() == 32u);
  BOOST_TEST((hello.hang_limit == 0ms));
  CHECK_TEXTS(heard(), "hello", "session 0x77", "term 0x77 /e _c_1 /e/_c_1", "complete");
  BOOST_TEST(!is_guarded(), "it has not confirmed");
  say(guardian_answer::kind::held);
  BOOST_TEST(is_guarded());
  BOOST_TEST(failures() == 0u);
  CHECK_TEXTS(logged(), "guarded /run/guardian.sock");
}

BOOST_AUTO_TEST_CASE(a_session_is_told_with_all_that_is_needed_to_take_it_up) {
  auto options = guarded_options();
  options.hosts = "one:1,two:2/app";
  options.digest.push_back({"user", "hush"});
  guarded_case with(options);
  with.it->accept(0x77, 8s);
  with.take();
  const auto told = std::get<backend::guarded_session>(with.guardian().heard.at(1));
  BOOST_TEST(told.key.id == 0x77);
  BOOST_TEST(told.key.password == "secret");
  BOOST_TEST((told.key.timeout == 8s));
  BOOST_TEST((told.servers == std::vector<backend::endpoint>{{"one", 1}, {"two", 2}}));
  BOOST_TEST_REQUIRE(told.digest.size() == 1u);
  BOOST_TEST(told.digest[0].password == "hush");
  const auto term = with.lead("/e", "_c_1", "/e/_c_1");
  BOOST_TEST(std::visit(shown(), with.guardian().heard.back()) == "term 0x77 /app/e _c_1 /app/e/_c_1", "with the root");
}

BOOST_AUTO_TEST_CASE(incarnations_and_terms_are_told_as_they_begin_and_end) {
  take();
  CHECK_TEXTS(heard(), "hello", "complete");
  it->connect(0x77);
  CHECK_TEXTS(heard(), "session 0x77");
  auto one = lead("/e", "_c_1", "/e/_c_1");
  auto two = lead("/g/shard/3", "m#4");
  CHECK_TEXTS(heard(), "term 0x77 /e _c_1 /e/_c_1", "term 0x77 /g/shard/3 m#4 ");
  it->reconnect(0x77);
  CHECK_TEXTS(heard());
  end(one);
  CHECK_TEXTS(heard(), "term_end 0x77 /e _c_1");
  it->expire(0x88);
  CHECK_TEXTS(heard(), "session_end 0x77", "session 0x88");
  end(two);
  CHECK_TEXTS(heard());
}

BOOST_AUTO_TEST_CASE(another_timeout_of_the_same_session_is_told) {
  take();
  it->accept(0x77, 10s);
  it->answer();
  heard();
  it->lose();
  it->accept(0x77, 20s);
  CHECK_TEXTS(heard(), "session 0x77");
}

BOOST_AUTO_TEST_CASE(credentials_that_are_added_are_told_with_each_session_again) {
  take();
  it->connect(0x77);
  heard();
  auto adding = it->record<>();
  it->zk.async_add_credentials({"user", "hush"}, adding.token());
  it->settle();
  BOOST_TEST_REQUIRE(guardian().heard.size() == 1u);
  const auto told = std::get<backend::guarded_session>(guardian().heard.front());
  BOOST_TEST(told.key.id == 0x77);
  BOOST_TEST_REQUIRE(told.digest.size() == 1u);
  BOOST_TEST(told.digest[0].password == "hush");
  heard();
  it->zk.async_add_credentials({"user", "hush"}, adding.token());
  it->settle();
  CHECK_TEXTS(heard());
  lose();
  it->advance(1s);
  take();
  const auto again = std::get<backend::guarded_session>(guardian().heard.at(1));
  BOOST_TEST(again.digest.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_in_order_is_taken_back) {
  take();
  it->connect(0x77);
  const auto term = lead("/e", "n");
  heard();
  auto closing = it->record<>();
  it->zk.async_close(closing.token());
  it->settle();
  CHECK_TEXTS(heard());  // the process may die before the server has closed it
  it->lose(errc::closed);
  CHECK_TEXTS(heard(), "session_end 0x77");
  BOOST_TEST(!guardian().open);
  it->advance(1min);
  BOOST_TEST(calls() == 1u);
}

BOOST_AUTO_TEST_CASE(an_absent_guardian_costs_a_count_one_event_and_nothing_else) {
  const auto absent = system_error(boost::system::errc::no_such_file_or_directory);
  it->connect(0x77);
  for (std::size_t i = 1; i <= 5; ++i) {
    BOOST_TEST(calls() == i);
    lose(absent);
    BOOST_TEST(failures() == i);
    it->advance(10s);
  }
  CHECK_TEXTS(logged(), "unguarded /run/guardian.sock: No such file or directory");
  BOOST_TEST(!is_guarded());
  BOOST_TEST((it->zk.status().state == session_state::connected));
  const auto term = lead("/e", "n");
  take();
  CHECK_TEXTS(heard(), "hello", "session 0x77", "term 0x77 /e n ", "complete");
  say(guardian_answer::kind::held);
  BOOST_TEST(is_guarded());
  CHECK_TEXTS(logged(), "guarded /run/guardian.sock");
}

BOOST_AUTO_TEST_CASE(a_guardian_that_ends_is_called_again_with_growing_pauses_and_told_everything_again) {
  it->connect(0x77);
  auto ended = lead("/e", "n");
  const auto goes_on = lead("/f", "n");
  take();
  say(guardian_answer::kind::held);
  heard();
  lose();
  BOOST_TEST(!is_guarded());
  end(ended);
  it->advance(149ms);  // the first pause: 50 to 150 ms
  it->advance(1ms);
  BOOST_TEST(calls() == 2u);
  take();
  CHECK_TEXTS(heard(), "hello", "session 0x77", "term 0x77 /f n ", "complete");
  lose();
  it->advance(60ms);
  BOOST_TEST(calls() == 2u, "the second pause is longer: 100 to 300 ms, as it has not confirmed meanwhile");
  it->advance(240ms);
  BOOST_TEST(calls() == 3u);
  BOOST_TEST(logged().size() == 2u, "guarded, unguarded once");
}

BOOST_AUTO_TEST_CASE(the_same_name_on_each_connection_tells_the_guardian_whose_it_is) {
  take();
  const auto first = std::get<backend::guardian_hello>(guardian().heard.at(0)).client;
  lose();
  it->advance(1s);
  take();
  BOOST_TEST(std::get<backend::guardian_hello>(guardian().heard.at(0)).client == first);
  guarded_case other;
  other.it->state().random = 7;
  other.take();
  BOOST_TEST(std::get<backend::guardian_hello>(other.guardian().heard.at(0)).client.size() == 32u);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_with_its_reason) {
  it->connect(0x77);
  take();
  say(guardian_answer::kind::refused, "the user has too many connections");
  lose(boost::asio::error::eof);
  BOOST_TEST(failures() == 1u);
  const auto lines = logged();
  BOOST_TEST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(lines[0].find("refused: the user has too many connections") != std::string::npos, lines[0]);
}

BOOST_AUTO_TEST_CASE(what_the_guardian_has_no_room_for_is_told_once) {
  it->connect(0x77);
  take();
  for (int i = 0; i < 3; ++i) say(guardian_answer::kind::full, "the user has too many terms");
  BOOST_TEST(failures() == 3u);
  const auto lines = logged();
  BOOST_TEST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(lines[0].find("the user has too many terms") != std::string::npos, lines[0]);
  say(guardian_answer::kind::held);
  BOOST_TEST(!is_guarded(), "it does not hold everything");
  lose();
  it->advance(1s);
  take();
  say(guardian_answer::kind::held);
  BOOST_TEST(is_guarded());
}

BOOST_AUTO_TEST_CASE(a_guardian_that_holds_less_than_it_was_told_is_none) {
  it->connect(0x77);
  const auto one = lead("/e", "_c_1", "/e/_c_1");
  for (const auto less : {backend::guarded_count{0, 0}, backend::guarded_count{1, 0}}) {
    take();
    say(guardian_answer::kind::held, {}, less);
    BOOST_TEST(!is_guarded());
    lose();
    it->advance(10s);
  }
  const auto lines = logged();
  BOOST_TEST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(lines[0].find("holds fewer sessions or terms than this process") != std::string::npos, lines[0]);
  take();
  say(guardian_answer::kind::held, {}, backend::guarded_count{1, 1});
  BOOST_TEST(is_guarded());
}

BOOST_AUTO_TEST_CASE(what_no_guardian_would_read_is_not_sent) {
  it->connect(0x77);
  take();
  heard();
  const auto term = lead("/" + std::string(backend::longest_path, 'a'), "n");
  CHECK_TEXTS(heard());
  BOOST_TEST(failures() == 1u);
}

BOOST_AUTO_TEST_CASE(a_world_without_guardians_is_a_failure_like_any_other) {
  fake_bench bench;
  bench.state().has_guardian = false;
  auto zk = bench.make_session(guarded_options());
  bench.settle();
  BOOST_TEST(zk.counters().guardian_failures == 1u);
  bench.accept(0x77);
  BOOST_TEST((zk.status().state == session_state::connected));
}

BOOST_AUTO_TEST_CASE(pings_come_three_times_in_the_hang_limit_while_the_guardian_is_there) {
  auto options = guarded_options();
  options.hang_limit = 3s;
  guarded_case with(options);
  with.it->advance(10s);
  BOOST_TEST(with.heard().empty());
  with.take();
  BOOST_TEST((std::get<backend::guardian_hello>(with.guardian().heard.at(0)).hang_limit == 3s));
  CHECK_TEXTS(with.heard(), "hello", "complete", "ping");
  with.it->advance(999ms);
  CHECK_TEXTS(with.heard());
  with.it->advance(1ms);
  CHECK_TEXTS(with.heard(), "ping");
  with.it->advance(5s);
  BOOST_TEST(with.heard().size() == 5u);
  auto& before = with.guardian();
  with.lose();
  with.it->advance(1min);
  BOOST_TEST(before.heard.empty());
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_leaves_the_registration_as_it_is) {
  take();
  it->connect(0x77);
  auto term = lead("/e", "n");
  const auto line = it->state().guardians.back();
  line->heard.clear();
  asio::post(it->zk.get_core()->strand(), [kept = std::move(term)] {});  // as an operation that is under way keeps it
  it->zk = session();
  it->destroy_context();
  BOOST_TEST(line->heard.empty(), "a process that ends like that has not retired");
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  fake_bench bench;
  const auto refused = [&](session_options options) {
    try {
      bench.make_session(std::move(options));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  auto options = guarded_options();
  options.guardian = "/" + std::string(107, 'a');
  BOOST_TEST(refused(options).starts_with("session_options::guardian"));
  options.guardian = std::string("/a\0b", 4);
  BOOST_TEST(refused(options).starts_with("session_options::guardian"));
  options.guardian = "child:";
  BOOST_TEST(refused(options) == R"(session_options::guardian: "child:" needs the path or name of a program)");
  options.guardian = "child:/" + std::string(200, 'a');
  BOOST_TEST(refused(options) == "taken", "the limit is that of sockets");
  for (const auto bad : {-1ms, 999ms, 3'600'001ms}) {
    options = guarded_options();
    options.hang_limit = bad;
    BOOST_TEST(refused(options).starts_with("session_options::hang_limit"));
  }
  options = fake_session::usual();
  options.hang_limit = 2s;
  BOOST_TEST(refused(options).starts_with("session_options::hang_limit"));
  options.guardian = "/a";
  BOOST_TEST(refused(options) == "taken");
}

BOOST_AUTO_TEST_SUITE_END()

// A guardian that does not answer, or not for long.
BOOST_FIXTURE_TEST_SUITE(guardian_silence, guarded_case)

BOOST_AUTO_TEST_CASE(a_guardian_that_does_not_answer_is_called_again) {
  it->connect(0x77);
  take();
  it->advance(9'900ms);
  BOOST_TEST(failures() == 0u);
  it->advance(200ms);
  BOOST_TEST(failures() == 1u);
  BOOST_TEST(!it->state().guardians.front()->open);
  it->advance(1s);
  BOOST_TEST_REQUIRE(calls() == 2u);
  take();
  say(guardian_answer::kind::held);
  BOOST_TEST(is_guarded());
}

BOOST_AUTO_TEST_CASE(a_guardian_that_falls_silent_is_noticed) {
  it->connect(0x77);
  take();
  for (int i = 0; i < 5; ++i) {
    heard();
    say(guardian_answer::kind::held);
    it->advance(10'100ms);
    CHECK_TEXTS(heard(), "complete");
    BOOST_TEST(is_guarded());
  }
  it->advance(10'100ms);
  BOOST_TEST(!is_guarded());
  BOOST_TEST(failures() == 1u);
  const auto texts = logged();
  BOOST_TEST_REQUIRE(texts.size() == 2u, "told once that it is there, and once that it is not");
  BOOST_TEST(texts.back().starts_with("unguarded"), texts.back());
}

BOOST_AUTO_TEST_CASE(one_that_answers_once_and_ends_each_time_is_called_less_and_less_often) {
  it->connect(0x77);
  std::size_t in_the_first_seconds = 0;
  for (int i = 0; i < 600; ++i) {  // a minute
    if (guardian().open) {
      take();
      say(guardian_answer::kind::held);
      lose();
    }
    it->advance(100ms);
    if (i == 60) in_the_first_seconds = calls();
  }
  BOOST_TEST(calls() - in_the_first_seconds <= 25u, calls() - in_the_first_seconds);
}

BOOST_AUTO_TEST_SUITE_END()

// A guardian that is a child of the session's process: what it is started with. Small programs stand for it.
namespace {

/// Commands of the shell, in a file that can be executed.
class script {
 public:
  explicit script(const std::string& commands) {
    std::ofstream(path()) << "#!/bin/sh\n" << commands << '\n';
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  script(const script&) = delete;
  std::string path() const { return (folder_.path() / "program").string(); }

 private:
  test::temporary_folder folder_;
};

/// What the program writes to the socket until it ends.
std::string hear(int socket) {
  std::string all;
  for (;;) {
    pollfd ready{socket, POLLIN, 0};
    BOOST_TEST_REQUIRE(::poll(&ready, 1, 10'000) == 1);
    std::array<char, 4096> part;
    const auto size = ::read(socket, part.data(), part.size());
    if (size <= 0) break;
    all.append(part.data(), static_cast<std::size_t>(size));
  }
  ::close(socket);
  return all;
}

std::string answer_of(const std::string& commands) {
  const script program(commands);
  const auto started = backend::start_guardian(program.path());
  BOOST_TEST_REQUIRE(!started.error, started.error.message());
  return hear(started.socket);
}

/// 32 and 33, which glibc ignores between fork and execution.
constexpr std::uint64_t signals_of_glibc = 0x180000000;

std::size_t count_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guardian_children)

BOOST_AUTO_TEST_CASE(a_program_is_told_from_a_socket) {
  BOOST_TEST((backend::guardian_program("child:zkrecipes-guardian") == "zkrecipes-guardian"));
  BOOST_TEST((backend::guardian_program("child:/a b") == "/a b"));
  BOOST_TEST(!backend::guardian_program("/run/child:").has_value());
  BOOST_TEST(!backend::guardian_program("").has_value());
}

BOOST_AUTO_TEST_CASE(it_is_given_the_socket_and_no_other_descriptor) {
  const int other = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as by a library that knows nothing of us
  // The last one is the folder itself.
  BOOST_TEST(answer_of("echo \"$@\" >&3; exec ls /proc/self/fd >&3") == "--child 3\n0\n1\n2\n3\n4\n");
  ::close(other);
}

BOOST_AUTO_TEST_CASE(it_leads_a_session_of_its_own) {
  std::istringstream ids(answer_of("cut -d' ' -f1,6 /proc/$$/stat >&3"));
  pid_t self = 0;
  pid_t session = 0;
  ids >> self >> session;
  BOOST_TEST(self == session);
  BOOST_TEST(session != ::getsid(0));
}

BOOST_AUTO_TEST_CASE(signals_are_neither_blocked_nor_ignored_in_it) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto old = ::signal(SIGHUP, SIG_IGN);
  std::istringstream seen(answer_of("exec grep -E 'SigBlk|SigIgn' /proc/self/status >&3"));
  ::signal(SIGHUP, old);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  std::string name;
  std::uint64_t mask = 0;
  for (int i = 0; i < 2; ++i) {
    seen >> name >> std::hex >> mask;
    BOOST_TEST((mask & ~signals_of_glibc) == 0u, name << ' ' << mask);
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_can_not_be_started_is_an_error_and_leaves_nothing) {
  const auto before = count_descriptors();
  for (const auto* each : {"/nowhere/zkrecipes-guardian", "no-program-of-this-name", "", "/tmp"}) {
    const auto started = backend::start_guardian(each);
    BOOST_TEST(started.error.failed(), each);
    BOOST_TEST(started.socket == -1, each);
  }
  BOOST_TEST(count_descriptors() <= before, "those of earlier ones are closed meanwhile");
}

BOOST_AUTO_TEST_CASE(one_that_does_not_end_by_itself_can_be_killed) {
  const script program("exec sleep 1000");
  const auto started = backend::start_guardian(program.path());
  started.child.kill();
  BOOST_TEST(hear(started.socket) == "");
  started.child.kill();
}

BOOST_AUTO_TEST_CASE(the_ends_of_earlier_ones_are_taken) {
  answer_of("exit 1");
  const auto before = count_descriptors();
  for (int i = 0; i < 20; ++i) answer_of("exit 1");
  BOOST_TEST(count_descriptors() <= before + 2, "of one that has just ended the end may not be there yet");
}

BOOST_AUTO_TEST_SUITE_END()

// A take-over beside a guardian: it is told of the term before the record is written, and is not told otherwise by a
// further try.
BOOST_AUTO_TEST_SUITE(guarded_terms)

/// The first try is refused, because somebody else has written the record, and the second one is done although its
/// reply is lost.
BOOST_AUTO_TEST_CASE(a_term_that_begins_at_the_third_try_is_told_once_and_stays) {
  working zk(guarded_options());
  auto& guardian = *zk.state().guardians.back();
  guardian.listener->guardian_up();
  zk.serve_until("multi /");
  zk.fail(errc::bad_version);
  zk.serve_until("multi /");
  BOOST_TEST_REQUIRE(zk.next_request() == "multi /");
  zk.data = zk.last().pending.front().first.operations.front().data;
  zk.fail(errc::connection_loss);
  zk.connect(0x77);
  zk.serve_until("multi /");
  strings heard;
  for (const auto& each : guardian.heard) heard.push_back(std::visit(shown(), each));
  const auto own = zk.own;
  CHECK_TEXTS(heard, "hello", "session 0x77", "complete", "term 0x77 /e " + own + " /e/" + own);
}

BOOST_AUTO_TEST_SUITE_END()
