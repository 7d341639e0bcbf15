// The list of servers that a session asks: names that do not resolve, addresses listed twice, unread writes.
#include "session/server_list.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <netdb.h>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "backend/zookeeper/server_input.hpp"
#include "support/coroutine.hpp"
#include "support/scripted_server.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using zkrecipes::backend::server_silence;
using namespace std::chrono_literals;

namespace {

using backend::endpoint;

std::uint64_t no_draw() { return 0; }

/// The servers of one round, sorted.
strings round_of(const detail::server_list& list, lease_clock::time_point present = {}) {
  strings all;
  for (const auto& each : list.in_turn(no_draw, present)) all.push_back(to_string(each));
  std::ranges::sort(all);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server_lists)

BOOST_AUTO_TEST_CASE(a_name_that_fails_keeps_the_addresses_that_it_had) {
  detail::server_list list;
  const endpoint a{"a", 1};
  const endpoint b{"b", 2};
  list.resolved({{a, {{"10.0.0.1", 1}}}, {b, {}}});
  BOOST_TEST(round_of(list) == (strings{"10.0.0.1:1"}), boost::test_tools::per_element());
  list.resolved({{a, {}}, {b, {{"10.0.0.2", 2}, {"10.0.0.3", 2}}}});
  const strings all{"10.0.0.1:1", "10.0.0.2:2", "10.0.0.3:2"};
  BOOST_TEST(round_of(list) == all, boost::test_tools::per_element());
  list.resolved({{a, {}}, {b, {}}});
  BOOST_TEST(round_of(list) == all, boost::test_tools::per_element());
  list.resolved({{a, {{"10.0.0.4", 1}}}, {b, {}}});
  const strings moved{"10.0.0.2:2", "10.0.0.3:2", "10.0.0.4:1"};
  BOOST_TEST(round_of(list) == moved, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_name_that_fails_at_first_is_asked_for_again_in_the_next_round) {
  auto options = fake_session::usual();
  options.hosts = "a:1,b:2";
  fake_bench bench;
  bench.state().resolved["b"];
  auto zk = bench.make_session(options);
  bench.settle();
  bench.accept(0x77);
  bench.answer();
  bench.state().resolved.erase("b");
  bench.lose();
  std::set<std::string> asked;
  for (int i = 0; i < 2; ++i) {
    asked.insert(bench.last().options.server.address);
    bench.lose();
  }
  BOOST_TEST(asked == (std::set<std::string>{"a", "b"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_address_that_is_listed_twice_counts_once) {
  detail::server_list list;
  const endpoint one{"10.0.0.1", 1};
  const endpoint two{"10.0.0.2", 1};
  list.resolved({{{"a", 1}, {one}}, {{"b", 1}, {two, one}}, {one, {one}}});
  BOOST_TEST(list.size() == 2u);
  const lease_clock::time_point present{};
  list.on_silence(one, present, std::chrono::seconds(10));
  BOOST_TEST(round_of(list, present).size() == 2u, "there are no two others");
  list.resolved({{{"a", 1}, {one}}, {{"b", 1}, {two, one}}, {{"c", 1}, {{"10.0.0.3", 1}}}});
  const strings others{"10.0.0.2:1", "10.0.0.3:1"};
  BOOST_TEST(round_of(list, present) == others, boost::test_tools::per_element());
}

// The creation of the root is a write like any other.
BOOST_AUTO_TEST_CASE(a_server_that_did_not_answer_the_creation_of_the_root_is_asked_last) {
  for (int draw = 0; draw < 12; ++draw) {
    auto options = fake_session::usual();
    options.hosts = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3";
    options.root = "/app";
    options.create_root = true;
    fake_session it(options);
    it.connect();
    CHECK_PENDING_OF(it, "create /app");
    const auto unread = it.last().options.server;
    it.state().random = static_cast<std::uint64_t>(draw);
    it.lose();
    std::vector<int> asked;
    for (int i = 0; i < 3; ++i) {
      asked.push_back(it.last().options.server.port);
      it.lose();
    }
    BOOST_TEST(asked.back() == unread.port);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// How long a server may say nothing.
namespace {

struct silent_server {
  silent_server() {
    it.begin(12s);
    it.on_input(start, true);
  }
  server_silence::time_point start{1h};
  server_silence it;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_silences, silent_server)

BOOST_AUTO_TEST_CASE(before_the_session_is_granted_nothing_is_late) {
  const server_silence none;
  BOOST_TEST((none.time_to_probe(start) == std::chrono::microseconds::max()));
  BOOST_TEST(!none.overslept(start, start - 1h));
}

BOOST_AUTO_TEST_CASE(a_server_that_owes_an_answer_is_probed_after_a_twelfth_of_the_timeout) {
  BOOST_TEST((it.time_to_probe(start) == 5s), "behind the next ping");
  it.on_request(start + 1s);
  BOOST_TEST((it.time_to_probe(start + 1s) == 1s));
  it.on_probe(start + 2s);
  it.on_request(start + 2s);
  BOOST_TEST((it.time_to_probe(start + 2s) == 1s));
  it.on_answer();
  it.on_answer();
  it.on_input(start + 3s, true);
  BOOST_TEST((it.time_to_probe(start + 3s) == 5s));
}

BOOST_AUTO_TEST_CASE(a_request_is_put_off_when_only_other_things_come_for_two_thirds_of_the_timeout) {
  it.on_request(start);
  it.on_input(start + 7s, false);
  BOOST_TEST(!it.is_put_off(start + 8s));
  BOOST_TEST(it.is_put_off(start + 8s + 1ms));
  it.on_input(start + 8s, true);
  BOOST_TEST(!it.is_put_off(start + 9s));
}

BOOST_AUTO_TEST_CASE(after_a_stall_of_our_own_the_server_is_asked_for_a_third_of_the_timeout) {
  BOOST_TEST(!it.overslept(start + 1s, start));
  BOOST_TEST(it.overslept(start + 1s + 1ms, start));
  it.ask(start + 2s);
  BOOST_TEST(it.is_asking(start + 5s));
  BOOST_TEST(!it.is_asking(start + 6s));
  BOOST_TEST(it.stop_asking());
  it.ask(start + 6s);
  it.on_input(start + 7s, false);
  BOOST_TEST(!it.stop_asking(), "anything that comes is a sign of life");
}

BOOST_AUTO_TEST_SUITE_END()

// Lookups of names in the real world. The system's resolver is the test's: names that end in ".known" lead to
// 127.0.0.9, those in ".hangs" to nothing until the test lets them go, those in ".missing" to nothing.
namespace {

/// Never destroyed: threads that look up may outlive it.
struct resolver {
  std::mutex mutex;
  std::condition_variable changed;
  bool lets_go = false;
  int asked = 0;  // for names that hang
  std::string address = "127.0.0.9";
};
resolver& of_system() {
  static auto* const all = new resolver;
  return *all;
}

int look_up(std::string_view name, const char* service, const addrinfo* hints, addrinfo** found) {
  auto& system = of_system();
  std::unique_lock lock(system.mutex);
  if (name.ends_with(".missing")) return EAI_NONAME;
  if (name.ends_with(".hangs")) {
    ++system.asked;
    system.changed.notify_all();
    system.changed.wait(lock, [&] { return system.lets_go; });
  }
  using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool is_ours = name.ends_with(".known") || name.ends_with(".hangs");
  return real(is_ours ? system.address.c_str() : std::string(name).c_str(), service, hints, found);
}

}  // namespace

// Takes the place of the system's.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  return look_up(name ? name : "", service, hints, found);
}

namespace {

struct lookup_case {
  lookup_case() { let_go(false); }
  ~lookup_case() { let_go(true); }
  void let_go(bool now) {
    std::lock_guard lock(of_system().mutex);
    of_system().lets_go = now;
    of_system().asked = 0;
    of_system().changed.notify_all();
  }
  void look_up(std::vector<std::string> addresses) {
    std::vector<backend::endpoint> names;
    for (auto& each : addresses) names.push_back({std::move(each), 2181});
    world->resolve(std::move(names), [this](const std::vector<backend::resolved_name>& all) {
      for (const auto& each : all) {
        found.push_back(each.addresses.empty() ? each.error.message() : to_string(each.addresses.front()));
      }
    });
  }
  static std::string text(const error_code& error) { return error.message(); }

  boost::asio::io_context io;
  std::unique_ptr<backend::world> world = backend::make_real_world(io.get_executor());
  std::vector<std::string> found;
};

const auto silent = error_code(boost::asio::error::timed_out).message();
const auto unknown = error_code(boost::asio::error::host_not_found).message();

#define CHECK_FOUND(...) BOOST_TEST(found == (std::vector<std::string>{__VA_ARGS__}), boost::test_tools::per_element())

}  // namespace

BOOST_FIXTURE_TEST_SUITE(name_resolution, lookup_case)

BOOST_AUTO_TEST_CASE(numeric_addresses_need_no_lookup_and_names_keep_their_order) {
  look_up({"127.0.0.1"});
  BOOST_TEST(found.empty(), "never from inside the call");
  io.run();
  CHECK_FOUND("127.0.0.1:2181");
  io.restart();
  found.clear();
  look_up({"a.known", "127.0.0.2", "b.missing", "a.known"});
  io.run();
  CHECK_FOUND("127.0.0.9:2181", "127.0.0.2:2181", unknown, "127.0.0.9:2181");
}

BOOST_AUTO_TEST_CASE(a_name_that_hangs_holds_no_other_one_up_and_has_a_limit) {
  look_up({"one.hangs"});
  look_up({"a.known"});
  look_up({"127.0.0.1"});
  io.run();
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found.back() == silent);
}

BOOST_AUTO_TEST_CASE(who_asks_again_waits_for_the_same_lookup) {
  look_up({"two.hangs"});
  look_up({"two.hangs"});
  io.run();
  CHECK_FOUND(silent, silent);
  found.clear();
  io.restart();
  auto second = backend::make_real_world(io.get_executor());
  second->resolve({{"two.hangs", 1}}, [this](const auto& all) { found.push_back(to_string(all[0].addresses.at(0))); });
  look_up({"two.hangs"});
  BOOST_TEST(of_system().asked == 1);
  let_go(true);
  io.run();
  std::ranges::sort(found);
  CHECK_FOUND("127.0.0.9:1", "127.0.0.9:2181");
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_lookup_that_was_abandoned_and_no_context_for_one_at_its_end) {
  look_up({"three.hangs"});
  {
    std::unique_lock lock(of_system().mutex);
    BOOST_TEST_REQUIRE(of_system().changed.wait_for(lock, 30s, [] { return of_system().asked == 1; }));
  }
  world->abandon_lookups();
  const auto begun = std::chrono::steady_clock::now();
  BOOST_TEST(io.run() <= 3u);
  BOOST_TEST((std::chrono::steady_clock::now() - begun < 1s), "it would be 1.5 s");
  BOOST_TEST(found.empty());
}

BOOST_AUTO_TEST_CASE(what_was_resolved_is_asked_for_anew) {
  of_system().address = "127.0.0.8";
  look_up({"a.known"});
  io.run();
  of_system().address = "127.0.0.9";
  look_up({"a.known"});
  io.restart();
  io.run();
  CHECK_FOUND("127.0.0.8:2181", "127.0.0.9:2181");
}

BOOST_AUTO_TEST_CASE(a_handler_can_begin_the_next_lookup) {
  world->resolve({{"a.known", 2181}}, [this](const auto&) { look_up({"a.known"}); });
  io.run();
  CHECK_FOUND("127.0.0.9:2181");
}

BOOST_AUTO_TEST_SUITE_END()

// Why the real C client gets no connection, as the status tells it.
namespace {

struct failing_case {
  asio::io_context io;

  /// The first failure of a session at this address.
  connection_failure failure_at(const std::string& address, std::chrono::milliseconds timeout = 10s) {
    session_options options;
    options.hosts = address;
    options.timeout = timeout;
    options.connect_timeout = 30s;
    session zk(io.get_executor(), options);
    const bool has_failed = run_until(io, [&] { return !zk.status().failures.empty(); });
    BOOST_TEST_REQUIRE(has_failed);
    return zk.status().failures.front();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connection_failures, failing_case)

BOOST_AUTO_TEST_CASE(nothing_listens) {
  asio::ip::tcp::acceptor taken(io, {asio::ip::address_v4::loopback(), 0});
  const auto port = taken.local_endpoint().port();
  taken.close();
  const auto failure = failure_at("127.0.0.1:" + std::to_string(port));
  BOOST_TEST((failure.reason == failure_reason::refused), failure.error.message());
  BOOST_TEST((failure.error == boost::system::errc::connection_refused));
  BOOST_TEST(failure.server == "127.0.0.1:" + std::to_string(port));
}

BOOST_AUTO_TEST_CASE(no_network_leads_there) {
  const auto failure = failure_at("255.255.255.255:1");  // TCP knows no broadcast
  BOOST_TEST((failure.reason == failure_reason::unreachable), failure.error.message());
}

// Nobody was asked, so nobody has closed a connection.
BOOST_AUTO_TEST_CASE(an_address_that_the_c_client_does_not_take_is_not_resolved) {
  const auto failure = failure_at("[::1%lo]:1");
  BOOST_TEST((failure.reason == failure_reason::unresolved), to_string(failure.reason));
  BOOST_TEST((failure.error == asio::error::host_not_found), failure.error.message());
}

BOOST_AUTO_TEST_CASE(an_address_that_the_system_does_not_take_is_unreachable) {
  const auto failure = failure_at("[fe80::1]:1");  // without an interface
  BOOST_TEST((failure.reason == failure_reason::unreachable), to_string(failure.reason));
  BOOST_TEST((failure.error.category() == boost::system::system_category()), failure.error.message());
}

BOOST_AUTO_TEST_CASE(the_server_closes_at_once) {
  scripted_server server(io,
                         [](scripted_connection client) -> asio::awaitable<void> { co_await client.read_connect(); });
  const auto failure = failure_at(server.address());
  BOOST_TEST((failure.reason == failure_reason::closed), failure.error.message());
  server.stop();
}

BOOST_AUTO_TEST_CASE(the_server_serves_reads_only) {
  scripted_server server(io, [](scripted_connection client) -> asio::awaitable<void> {
    co_await client.read_connect();
    co_await client.accept(0x55, 5000, true);
    co_await client.until_end();
  });
  const auto failure = failure_at(server.address());
  BOOST_TEST((failure.reason == failure_reason::read_only), failure.error.message());
  server.stop();
}

BOOST_AUTO_TEST_CASE(the_server_accepts_and_says_nothing) {
  scripted_server server(io, [](scripted_connection client) -> asio::awaitable<void> { co_await client.until_end(); });
  const auto failure = failure_at(server.address(), 150ms);  // the C client waits for a part of the session timeout
  BOOST_TEST((failure.reason == failure_reason::silent), failure.error.message());
  server.stop();
}

BOOST_AUTO_TEST_SUITE_END()
