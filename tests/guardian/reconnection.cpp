// The client of the library and a real guardian: absent, stopped, started again.
#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/strand.hpp>

#include "backend/guardian/guardian_stream.hpp"
#include "backend/world.hpp"
#include "guardian/guarding.hpp"
#include "session/guardian_client.hpp"

using namespace guardian;
using namespace guardian::test;

namespace detail = zkrecipes::detail;

namespace {

/// A world that has the real guardian and the real time, and no servers.
class world_with_guardian final : public backend::world {
 public:
  explicit world_with_guardian(asio::any_io_executor strand) : strand_(std::move(strand)) {}

  zkrecipes::lease_clock::time_point now() override { return zkrecipes::lease_clock::now(); }
  std::chrono::system_clock::time_point wall_clock() override { return std::chrono::system_clock::now(); }
  std::uint64_t random() override { return ++drawn_ * 0x9e3779b97f4a7c15; }
  backend::timer_id call_at(zkrecipes::lease_clock::time_point when, std::function<void()> what) override {
    auto timer = std::make_unique<asio::steady_timer>(strand_);
    timer->expires_after(when - now());
    timer->async_wait([what = std::move(what)](const boost::system::error_code& error) {
      if (!error) what();
    });
    timers_[++last_] = std::move(timer);
    return last_;
  }
  void cancel(backend::timer_id id) override { timers_.erase(id); }
  void resolve(std::vector<backend::endpoint>, backend::resolve_handler) override {}
  std::unique_ptr<backend::link> connect(backend::link_options, backend::link_listener&) override { return nullptr; }
  std::unique_ptr<backend::guardian_line> call_guardian(const std::string& path,
                                                        backend::guardian_listener& listener) override {
    return backend::open_guardian_line(strand_, path, listener);
  }

 private:
  asio::any_io_executor strand_;
  std::uint64_t drawn_ = 0;
  backend::timer_id last_ = 0;
  std::map<backend::timer_id, std::unique_ptr<asio::steady_timer>> timers_;
};

struct client_case : guarding {
  std::shared_ptr<detail::guardian_client> make_client(std::chrono::milliseconds hang_limit = 0ms) {
    auto schedule = std::make_shared<detail::scheduler>();
    schedule->base = io.get_executor();
    schedule->strand = strand;
    schedule->world = std::make_unique<world_with_guardian>(schedule->strand);
    detail::guardian_client::settings what{options.socket.path, hang_limit, {{"zk", 2181}}, {{"user", "hush"}}};
    const auto told = [this](bool is_held, bool, const zkrecipes::error_code& error, std::string_view detail) {
      held = is_held;
      detail_of_failure = detail;
      why = error;
      ++(is_held ? successes : failures);
    };
    auto made = std::make_shared<detail::guardian_client>(std::move(schedule), std::move(what), told);
    made->start();
    return made;
  }
  void run_until_held() {
    run_until([&] { return held; }, "that the guardian holds it");
  }
  void check_held(std::size_t sessions, std::size_t terms) {
    BOOST_TEST(guard->held().session_count() == sessions);
    BOOST_TEST(guard->held().term_count() == terms);
  }
  /// As if it were killed: nothing is said to anybody.
  void lose_guardian() {
    guard.reset();
    run_until([&] { return !held; }, "that the client knows of the loss");
  }

  const asio::any_io_executor strand = asio::make_strand(io);
  const backend::session_key key{0x77, "0123456789abcdef", 10s};
  bool held = false;
  zkrecipes::error_code why;  // the last failure
  std::string detail_of_failure;
  int successes = 0;
  int failures = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(reconnections, client_case)

BOOST_AUTO_TEST_CASE(a_guardian_that_comes_later_goes_and_comes_again_is_told_everything_each_time) {
  const auto client = make_client();
  client->begin(key);
  const auto goes_on = client->hold(term_of(0x77, "/e"));
  auto ends = client->hold(term_of(0x77, "/f"));
  run_until([&] { return failures >= 2; }, "two calls in vain");
  start();
  run_until_held();
  check_held(1, 2);
  for (int i = 0; i < 3; ++i) {
    lose_guardian();
    start();
    run_until_held();
    check_held(1, 2);
  }
  asio::post(strand, [gone = std::move(ends)]() mutable { gone.reset(); });  // in order: not with its context
  run_until([&] { return guard->held().term_count() == 1u; }, "the end of the term");
  client->leave();
  run_until([&] { return guard->held().process_count() == 0u; }, "that it is taken back");
  BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_wrong_socket_is_as_good_as_none) {
  for (const auto& path : {folder.path, std::string("/dev/null"), folder.path + "/none"}) {
    options.socket.path = path;
    failures = 0;
    const auto client = make_client();
    client->begin(key);
    run_until([&] { return failures >= 2; }, "two calls in vain");
    client->leave();
  }
  BOOST_TEST(successes == 0);
}

BOOST_AUTO_TEST_CASE(a_program_that_hangs_up_is_called_until_there_is_a_guardian_in_its_place) {
  options.socket.path = folder.socket();
  std::optional<asio::local::stream_protocol::acceptor> other(
      std::in_place, io, asio::local::stream_protocol::endpoint(options.socket.path));
  std::function<void()> hang_up = [&] {
    other->async_accept([&](const boost::system::error_code& error, const asio::local::stream_protocol::socket&) {
      if (!error) hang_up();
    });
  };
  hang_up();
  const auto client = make_client();
  client->begin(key);
  run_until([&] { return failures >= 2; }, "two calls in vain");
  BOOST_TEST(successes == 0);
  other.reset();
  start();
  run_until_held();
  check_held(1, 0);
  client->leave();
}

BOOST_AUTO_TEST_CASE(what_ended_while_the_guardian_did_not_hear_it_is_dropped_when_it_is_told_again) {
  start();
  auto client = make_client();
  client->begin(key);
  auto term = client->hold(term_of(0x77, "/e"));
  run_until_held();
  check_held(1, 1);
  // Another connection of the same client, as after a loss that the guardian has not seen: it repeats one session only.
  talker again(options.socket.path);
  again.greet(0ms, std::string(32, 'd'));
  again.tell(session_of(0x88));
  again.tell(term_of(0x88, "/f"));
  again.tell(session_of(0x99));
  run_until([&] { return guard->held().session_count() == 3u; }, "the sessions of the other client");
  talker third(options.socket.path);
  third.greet(0ms, std::string(32, 'd'));
  third.tell(session_of(0x88));
  third.tell(backend::guardian_complete());
  run_until([&] { return guard->held().session_count() == 2u; }, "0x99 is dropped");
  check_held(2, 1);  // and the term of 0x88; what the library's client has told stays
  client->leave();
}

BOOST_AUTO_TEST_CASE(what_an_earlier_connection_says_late_does_not_count_against_a_later_one) {
  start();
  talker early(options.socket.path);
  early.greet(0ms, std::string(32, 'd'));
  early.tell(session_of(0x88));
  run_until([&] { return guard->held().session_count() == 1u; }, "the session");
  talker late(options.socket.path);
  late.greet(0ms, std::string(32, 'd'));
  late.tell(session_of(0x88));
  late.tell(term_of(0x88, "/f"));
  run_until([&] { return guard->held().term_count() == 1u; }, "the term");
  early.tell(session_of(0x88));
  early.tell(term_of(0x88, "/f"));
  early.tell(backend::guarded_term_end{0x88, "/f", "_c_1"});
  early.tell(backend::guarded_session_end{0x88});
  early.tell(backend::guardian_complete());
  early.tell(session_of(0x99));
  run_until([&] { return guard->held().session_count() == 2u; }, "that all of it was heard");
  check_held(2, 1);
  late.tell(backend::guardian_complete());
  run_until([&] { return guard->held().session_count() == 1u; }, "that the later one counts");
  check_held(1, 1);
}

BOOST_AUTO_TEST_CASE(the_pings_of_the_client_are_signs_of_life) {
  start();
  const auto client = make_client(200ms);
  client->begin(key);
  run_until_held();
  asio::steady_timer later(io, 700ms);  // three hang limits and more
  bool is_later = false;
  later.async_wait([&](const boost::system::error_code&) { is_later = true; });
  run_until([&] { return is_later; }, "the time");
  BOOST_TEST(!has_logged("hung_process"));
  BOOST_TEST(held);
  client->leave();
}

BOOST_AUTO_TEST_CASE(what_is_told_last_arrives_also_if_the_guardian_is_slow) {
  start();
  const auto client = make_client();
  client->begin(key);
  std::vector<detail::term_guard_ptr> all;
  for (int i = 0; i < 1'000; ++i) {  // more than a socket takes
    all.push_back(client->hold(term_of(0x77, "/g/" + std::string(500, 'a') + std::to_string(i))));
  }
  run_until_held();
  check_held(1, 1'000);
  asio::post(strand, [&] {  // which the guardian does not read meanwhile
    all.clear();
    client->leave();
  });
  run_until([&] { return guard->held().process_count() == 0u; }, "that all of it is taken back");
}

BOOST_AUTO_TEST_CASE(a_guardian_that_reads_nothing_costs_a_bounded_amount_of_memory) {
  options.socket.path = folder.socket();
  asio::local::stream_protocol::acceptor deaf(io, asio::local::stream_protocol::endpoint(options.socket.path));
  const auto client = make_client();
  client->begin(key);
  io.poll();  // a local socket connects at once
  std::vector<detail::term_guard_ptr> all;
  for (int i = 0; i < 12'000 && failures == 0; ++i) {
    all.push_back(client->hold(term_of(0x77, "/" + std::string(4'000, 'a') + std::to_string(i))));
  }
  run_until([&] { return failures > 0; }, "a failure");
  BOOST_TEST((why == boost::system::errc::no_buffer_space), why.message());
  client->leave();
}

BOOST_AUTO_TEST_CASE(ten_thousand_terms_are_told_again_at_once) {
  const auto client = make_client();
  client->begin(key);
  std::vector<std::shared_ptr<void>> all;
  for (int i = 0; i < 10'000; ++i) all.push_back(client->hold({0x77, "/g/shard/" + std::to_string(i), "m#1", {}}));
  run_until([&] { return failures >= 1; }, "a call in vain");
  start();
  run_until_held();
  check_held(1, 10'000);
  client->leave();
}

/// It would get the password of the session.
BOOST_AUTO_TEST_CASE(a_stranger_who_listens_at_the_path_is_told_nothing, *boost::unit_test::precondition(as_root)) {
  const auto path = options.socket.path;
  child stranger([&](const child::orders& orders) {
    const descriptor listening(::socket(AF_UNIX, SOCK_STREAM, 0));
    const asio::local::stream_protocol::endpoint where(path);
    if (::bind(listening.get(), where.data(), static_cast<socklen_t>(where.size())) != 0) return;
    if (::setresuid(nobody, nobody, nobody) != 0 || ::listen(listening.get(), 8) != 0) return;
    orders.report('l');
    const descriptor heard(::accept(listening.get(), nullptr, nullptr));
    char first = 0;
    orders.report(::recv(heard.get(), &first, 1, 0) == 0 ? 'n' : 'x');
    orders.wait();
  });
  run_until_reported(stranger, 'l');
  const auto client = make_client();
  client->begin(key);
  run_until_reported(stranger, 'n');
  run_until([&] { return failures > 0; }, "the failure");
  BOOST_TEST(why.value() == EACCES, why.message());
  BOOST_TEST(detail_of_failure ==
             "refused: user 65534 listens there, who is neither root nor we nor the folder's owner");
  ::chown(folder.path.c_str(), nobody, static_cast<gid_t>(-1));
  stranger.signal(SIGKILL);
  stranger.wait_for_end();
  ::unlink(path.c_str());
  child owner([&](const child::orders& orders) {
    if (::setresuid(nobody, nobody, nobody) != 0) return;
    const descriptor listening(::socket(AF_UNIX, SOCK_STREAM, 0));
    const asio::local::stream_protocol::endpoint where(path);
    if (::bind(listening.get(), where.data(), static_cast<socklen_t>(where.size())) != 0) return;
    if (::chmod(path.c_str(), 0666) != 0 || ::listen(listening.get(), 8) != 0) return;
    const descriptor heard(::accept(listening.get(), nullptr, nullptr));
    char first = 0;
    orders.report(::recv(heard.get(), &first, 1, 0) == 1 ? 't' : 'x');
    orders.wait();
  });
  run_until_reported(owner, 't');
  client->stop();
}

BOOST_AUTO_TEST_SUITE_END()
