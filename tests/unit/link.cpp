// The session with the real C client, on scripted servers that misbehave.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/endian/buffers.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "session/server_list.hpp"
#include "support/coroutine.hpp"
#include "support/process.hpp"
#include "support/scripted_server.hpp"
#include "unit/no_descriptors.hpp"
#include "unit/no_memory.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::int32_t op_exists = 3;
constexpr std::int32_t op_get = 4;
constexpr std::int32_t op_set = 5;
constexpr std::int32_t op_multi = 14;
constexpr std::int32_t op_sync = 9;
constexpr std::int32_t op_ping = 11;
constexpr std::int32_t op_close = -11;
constexpr std::int32_t op_auth = 100;
constexpr std::int32_t err_no_node = -101;
constexpr std::int32_t err_auth_failed = -115;

session_options options_for(const scripted_server& server) {
  session_options options;
  options.hosts = server.address();
  options.timeout = 5s;
  options.connect_timeout = 500ms;
  options.retry.first_pause = 1ms;
  options.retry.max_pause = 10ms;
  return options;
}

struct scripted_case {
  asio::io_context io;
  std::vector<std::int64_t> ids;  // session ids in the connect requests
  std::vector<std::int32_t> ops;  // operations of the requests seen

  /// Ends the server's connections. Then the context must run out of work.
  void finish(scripted_server& server) {
    server.stop();
    BOOST_TEST(run_until(io, [&] { return io.stopped(); }), "something goes on after the last session");
  }

  /// Accepts a new session and answers its first request.
  asio::awaitable<void> greet(scripted_connection& client, std::int32_t timeout_ms) {
    co_await client.read_connect();
    co_await client.accept(0x55, timeout_ms);
    auto first = co_await client.read_request();
    co_await client.answer(first.xid);
  }

  /// Grants the session that is asked for, or `id`, and answers every `get` and transaction with `no_node`.
  asio::awaitable<void> serve(scripted_connection& client, std::int64_t id) {
    auto asked = co_await client.read_connect();
    ids.push_back(asked);
    co_await client.accept(asked ? asked : id, 5000);
    for (;;) {
      auto request = co_await client.read_request();
      ops.push_back(request.op);
      if (request.op == op_close) co_return;
      co_await client.answer(request.xid, request.op == op_get || request.op == op_multi ? err_no_node : 0);
    }
  }
};

/// One link, without a session.
struct lone_link final : backend::link_listener {
  lone_link(asio::io_context& io, const scripted_server& server, std::chrono::milliseconds timeout)
      : world(backend::make_real_world(io.get_executor())) {
    const auto at = detail::parse_hosts(server.address()).servers.front();
    link = world->connect({at, {0, "", timeout}}, *this);
  }
  void up(const backend::session_key&) override { is_up = true; }
  void down(error_code reason) override { ended = reason; }
  void fired(const backend::watch_event&) override {}
  void get() {
    link->submit(backend::make_request(backend::opcode::get, "/a"),
                 [this](backend::reply answer) { answers.push_back(answer.error); });
  }

  std::unique_ptr<backend::world> world;
  std::unique_ptr<backend::link> link;
  bool is_up = false;
  error_code ended;
  std::vector<error_code> answers;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(links, scripted_case)

BOOST_AUTO_TEST_CASE(a_request_is_answered_although_there_was_no_memory_to_wait_for_the_answer) {
  scripted_server server(io,
                         [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client, 0x55); });
  {
    lone_link it(io, server, 5s);
    BOOST_TEST_REQUIRE(run_until(io, [&] { return it.is_up; }));
    {
      const no_memory now(1);
      BOOST_CHECK_NO_THROW(it.get());
    }
    BOOST_TEST_REQUIRE(run_until(io, [&] { return !it.answers.empty(); }));
    BOOST_TEST((it.answers.front() == errc::no_node));
  }
  finish(server);
}

BOOST_AUTO_TEST_CASE(a_silent_server_is_left_although_there_was_no_memory_to_wait_for_it) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    co_await client.read_connect();
    co_await client.accept(0x55, 600);
    co_await client.until_end();
  });
  {
    lone_link it(io, server, 600ms);
    BOOST_TEST_REQUIRE(run_until(io, [&] { return it.is_up; }));
    {
      const no_memory now(100);
      BOOST_CHECK_THROW(it.get(), std::bad_alloc);
    }
    BOOST_TEST_REQUIRE(run_until(io, [&] { return static_cast<bool>(it.ended); }));
    BOOST_TEST((it.ended == errc::timed_out));
    BOOST_TEST(it.answers.size() == 1u);
  }
  finish(server);
}

// The end of the connection can be read together with the acceptance. The session exists all the same.
BOOST_AUTO_TEST_CASE(a_session_that_is_granted_and_cut_in_the_same_breath_is_taken_up_again) {
  int connections = 0;
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    if (++connections > 3) {
      co_await serve(client, 0x55);
      co_return;
    }
    auto asked = co_await client.read_connect();
    ids.push_back(asked);
    co_await client.accept(asked ? asked : 0x55, 5000);
  });
  {
    session zk(io.get_executor(), options_for(server));
    auto result = run_coroutine(io, zk.async_get("/a", tuple));
    BOOST_TEST((std::get<0>(result) == errc::no_node));
    BOOST_TEST(zk.status().session_id == 0x55);
    BOOST_TEST(zk.status().incarnation == 1u);
  }
  BOOST_TEST(ids == (std::vector<std::int64_t>{0, 0x55, 0x55, 0x55}), boost::test_tools::per_element());
  run_until(io, [&] { return !ops.empty() && ops.back() == op_close; });
  finish(server);
}

BOOST_AUTO_TEST_CASE(a_sync_is_the_first_request_and_the_end_of_the_session_the_last) {
  scripted_server server(io,
                         [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client, 0x55); });
  {
    session zk(io.get_executor(), options_for(server));
    auto result = run_coroutine(io, zk.async_get("/a", tuple));
    BOOST_TEST((std::get<0>(result) == errc::no_node));
  }
  BOOST_TEST(run_until(io, [&] { return !ops.empty() && ops.back() == op_close; }));
  BOOST_TEST(ops == (std::vector<std::int32_t>{op_sync, op_get, op_close}), boost::test_tools::per_element());
  finish(server);
}

// ClickHouse Keeper grants another id instead of saying that the session is gone.
BOOST_AUTO_TEST_CASE(another_id_than_asked_for_is_another_session) {
  int connections = 0;
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    const bool first = ++connections == 1;
    auto asked = co_await client.read_connect();
    ids.push_back(asked);
    co_await client.accept(first ? 0x55 : 0x66, 5000);
    if (first) co_return;
    co_await client.until_end();
  });
  {
    session zk(io.get_executor(), options_for(server));
    session_status seen;
    while (seen.incarnation < 2) {
      auto change = run_coroutine(io, zk.async_status_change(seen.changes, tuple));
      seen = std::get<1>(change);
    }
    BOOST_TEST(seen.changes == 4u, "connected, suspended, expired, connected");
    BOOST_TEST(seen.session_id == 0x66);
  }
  BOOST_TEST(ids == (std::vector<std::int64_t>{0, 0x55, 0}), boost::test_tools::per_element());
  finish(server);
}

BOOST_AUTO_TEST_CASE(refused_credentials_end_the_session_for_good_and_are_not_told_to_the_trace) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    auto asked = co_await client.read_connect();
    ids.push_back(asked);
    co_await client.accept(0x55, 5000);
    for (;;) {
      auto request = co_await client.read_request();
      if (request.op == op_auth) co_await client.answer(request.xid, err_auth_failed);
    }
  });
  std::string traced;
  auto options = options_for(server);
  options.digest = {{"me", "hush-hush"}};
  options.trace = [&](const trace_event& event) {
    traced += std::string(event.operation) + ' ' + std::string(event.path) + ' ' + event.outcome.message() + '\n';
  };
  session zk(io.get_executor(), options);
  auto result = run_coroutine(io, zk.async_get("/a", tuple));
  BOOST_TEST((std::get<0>(result) == errc::auth_failed), std::get<0>(result).message());
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.status().reason == errc::auth_failed));
  BOOST_TEST(ids.size() == 1u);
  BOOST_TEST(traced.find("hush") == std::string::npos);
  finish(server);
}

BOOST_AUTO_TEST_CASE(a_server_that_never_accepts_costs_the_connect_timeout_and_no_more) {
  asio::ip::tcp::acceptor silent(io, {asio::ip::address_v4::loopback(), 0}, true);
  scripted_server server(io,
                         [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client, 0x55); });
  auto options = options_for(server);
  options.hosts = "127.0.0.1:" + std::to_string(silent.local_endpoint().port()) + "," + server.address();
  options.connect_timeout = 150ms;
  for (int i = 0; i < 8; ++i) {  // several times, because the session tries the servers in random order
    session zk(io.get_executor(), options);
    const auto begin = std::chrono::steady_clock::now();
    auto result = run_coroutine(io, zk.async_connected(tuple));
    BOOST_TEST(!std::get<0>(result));
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 2500ms));
    BOOST_TEST(zk.status().server == server.address());
    run_coroutine(io, zk.async_close(tuple));
  }
  finish(server);
}

// The silent server may read the write later, and execute it. So the session does not ask it again.
BOOST_AUTO_TEST_CASE(a_server_that_falls_silent_over_a_write_is_left_out) {
  int silent = -1;
  std::map<int, int> connections;
  const auto script = [&](int which) {
    return [&, which](scripted_connection client) -> asio::awaitable<void> {
      ++connections[which];
      const auto asked = co_await client.read_connect();
      co_await client.accept(asked ? asked : 0x55, 600);
      for (;;) {
        auto request = co_await client.read_request();
        if (silent < 0 && request.op == op_set) silent = which;
        if (silent == which) continue;
        co_await client.answer(request.xid, request.op == op_get || request.op == op_multi ? err_no_node : 0);
        if (request.op == op_get || request.op == op_close) co_return;
      }
    };
  };
  scripted_server one(io, script(0));
  scripted_server two(io, script(1));
  scripted_server three(io, script(2));
  auto options = options_for(one);
  options.hosts = one.address() + "," + two.address() + "," + three.address();
  session zk(io.get_executor(), options);
  auto lost = run_coroutine(io, zk.async_set("/a", "new", any_version, tuple));
  BOOST_TEST((std::get<0>(lost) == errc::connection_loss), std::get<0>(lost).message());
  for (int i = 0; i < 9; ++i) {
    auto result = run_coroutine(io, zk.async_get("/a", tuple));
    BOOST_TEST((std::get<0>(result) == errc::no_node), std::get<0>(result).message());
  }
  BOOST_TEST(connections[silent] == 1);
  run_coroutine(io, zk.async_close(tuple));
  one.stop();
  two.stop();
  finish(three);
}

// ZOOKEEPER-4537, in servers before 3.8.1: a request can lie in the server until another one comes. The C client alone
// would wait for two thirds of the timeout and give the connection up.
BOOST_AUTO_TEST_CASE(a_server_that_sleeps_over_a_request_is_roused_by_another_one) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    co_await greet(client, 2400);
    auto slept_over = co_await client.read_request();
    auto first = co_await client.read_request();  // the server can sleep over this one, too
    auto second = co_await client.read_request();
    ops = {slept_over.op, first.op, second.op};
    co_await client.answer(slept_over.xid, err_no_node);
    co_await client.answer(first.xid);
    co_await client.answer(second.xid);
    co_await client.until_end();
  });
  session zk(io.get_executor(), options_for(server));
  auto result = run_coroutine(io, zk.async_get("/a", tuple));
  BOOST_TEST((std::get<0>(result) == errc::no_node), std::get<0>(result).message());
  BOOST_TEST(zk.counters().connects == 1u);
  BOOST_TEST(zk.counters().requests == 2u, "what rouses it is none of the user's");
  BOOST_TEST(ops == (std::vector<std::int32_t>{op_get, op_exists, op_exists}), boost::test_tools::per_element());
  run_coroutine(io, zk.async_close(tuple));
  finish(server);
}

BOOST_AUTO_TEST_CASE(out_of_descriptors_is_told_and_mended) {
  scripted_server server(io,
                         [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client, 0x55); });
  // 0, 1: no pair for frames in pieces; 2: the C client gets no descriptor; 3: only our duplicate gets none.
  for (std::size_t spare : {0u, 1u, 2u, 3u}) {
    std::optional<session> zk;
    std::size_t handlers = 0;
    bool was_told = false;
    {
      no_descriptors none(spare);  // nothing is asserted meanwhile: the sanitizers need descriptors of their own
      zk.emplace(io.get_executor(), options_for(server));
      const auto tried = [&] { return zk->status().reason == errc::no_descriptors && zk->status().changes >= 3; };
      while (!tried() && handlers < 10'000) handlers += io.run_one_for(time_limit);
      was_told = tried();
    }
    BOOST_TEST(was_told);
    BOOST_TEST(handlers < 1'000u, "a busy loop");
    auto result = run_coroutine(io, zk->async_get("/a", tuple));
    BOOST_TEST((std::get<0>(result) == errc::no_node));
    run_coroutine(io, zk->async_close(tuple));
  }
  finish(server);
}

BOOST_AUTO_TEST_CASE(a_server_that_sleeps_over_a_ping_is_roused_by_a_request) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    co_await greet(client, 3600);
    auto slept_over = co_await client.read_request();
    auto request = co_await client.read_request();
    ops = {slept_over.op, request.op};
    co_await client.answer(slept_over.xid);
    co_await client.answer(request.xid);
    for (;;) {
      request = co_await client.read_request();
      ops.push_back(request.op);
      co_await client.answer(request.xid);
    }
  });
  session zk(io.get_executor(), options_for(server));
  BOOST_TEST(run_until(io, [&] { return ops.size() >= 3; }));
  BOOST_TEST(ops == (std::vector<std::int32_t>{op_ping, op_exists, op_ping}), boost::test_tools::per_element());
  BOOST_TEST(zk.counters().connects == 1u);
  run_coroutine(io, zk.async_close(tuple));
  finish(server);
}

// If the event were told before the answer that was read with it, it would end a watch that is not registered yet.
BOOST_AUTO_TEST_CASE(answers_and_events_are_told_in_the_order_in_which_the_server_gave_them) {
  constexpr std::int32_t created = 1;
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    co_await greet(client, 5000);
    auto look = co_await client.read_request();
    co_await client.answer_and_fire(look.xid, err_no_node, created, "/a");
    for (;;) {
      auto next = co_await client.read_request();
      ops.push_back(next.op);
      if (next.op == op_close) co_return;
      co_await client.answer(next.xid, err_no_node);
    }
  });
  session zk(io.get_executor(), options_for(server));
  asio::cancellation_signal stop;
  bool is_over = false;
  zk.async_data_change("/a", 0,
                       asio::bind_cancellation_slot(stop.slot(), [&](error_code, node_data) { is_over = true; }));
  BOOST_TEST(run_until(io, [&] { return !ops.empty(); }));
  BOOST_TEST(ops == (std::vector<std::int32_t>{op_exists}), boost::test_tools::per_element());
  stop.emit(asio::cancellation_type::total);
  BOOST_TEST(run_until(io, [&] { return is_over; }));
  run_coroutine(io, zk.async_close(tuple));
  finish(server);
}

BOOST_AUTO_TEST_SUITE_END()

// Answers that arrive in pieces.
namespace {

/// The frame that says that there is no node.
std::string no_node(std::int32_t xid) {
  std::string frame;
  for (const std::int32_t each : {16, xid, 0, 1, err_no_node}) {
    const boost::endian::big_int32_buf_t bytes(each);
    frame.append(reinterpret_cast<const char*>(bytes.data()), sizeof bytes);
  }
  return frame;
}

struct pieces_case {
  asio::io_context io;
  bool has_piece = false;
  bool may_end = false;

  /// Answers the second get in two pieces.
  asio::awaitable<void> serve(scripted_connection& client) {
    co_await client.read_connect();
    co_await client.accept(0x55, 30'000);
    auto last = co_await client.read_request();
    for (int gets = last.op == op_get; gets < 2; gets += last.op == op_get) {
      auto whole = no_node(last.xid);
      co_await client.write(std::move(whole));
      last = co_await client.read_request();
    }
    const auto frame = no_node(last.xid);
    auto start = frame.substr(0, 7);
    co_await client.write(std::move(start));
    has_piece = true;
    asio::steady_timer nap(io);
    while (!may_end) {
      nap.expires_after(1ms);
      co_await nap.async_wait(asio::use_awaitable);
    }
    auto rest = frame.substr(7);
    co_await client.write(std::move(rest));
    co_await client.read_request();  // that of the close
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(frames_in_pieces, pieces_case)

/// A connection that is up needs no further descriptor.
BOOST_AUTO_TEST_CASE(without_a_descriptor_left) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client); });
  session_options options;
  options.hosts = server.address();
  options.timeout = 30s;
  session zk(io.get_executor(), options);
  auto greeted = run_coroutine(io, zk.async_get("/a", tuple));
  BOOST_TEST((std::get<0>(greeted) == errc::no_node), std::get<0>(greeted).message());
  recorder<node_data> reading(io.get_executor());
  zk.async_get("/b", reading.token());
  bool is_answered = false;
  {
    no_descriptors none(0);  // nothing is asserted meanwhile: the sanitizers need descriptors of their own
    run_until(io, [&] { return has_piece; });
    may_end = true;
    is_answered = run_until(io, [&] { return reading.done(); });
  }
  BOOST_TEST(is_answered);
  BOOST_TEST((reading.error() == errc::no_node), reading.error().message());
  BOOST_TEST(zk.counters().connects == 1u);
  run_coroutine(io, zk.async_close(tuple));
  server.stop();
}

BOOST_AUTO_TEST_SUITE_END()
