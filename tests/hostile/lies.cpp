// Answers that break the protocol. To the C client most of them are the end of the process, or wild pointers.
#include <functional>
#include <limits>
#include <optional>
#include <thread>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

#include "hostile/lying_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace op = testcluster::op;
using namespace zkrecipes::test::frame;

namespace {

constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();

using request = lying_case::request;

asio::awaitable<error_code> get(session& zk) {
  auto result = co_await zk.async_get("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> exists(session& zk) {
  auto result = co_await zk.async_exists("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> set(session& zk) {
  auto result = co_await zk.async_set("/a", "new", any_version, tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> create(session& zk) {
  auto result = co_await zk.async_create("/a", "", create_mode::persistent, tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> children(session& zk) {
  auto result = co_await zk.async_children("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> get_acl(session& zk) {
  auto result = co_await zk.async_get_acl("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> commit(session& zk) {
  transaction all;
  all.create("/a").set("/b", "").remove("/c");
  auto result = co_await zk.async_commit(std::move(all), tuple);
  co_return std::get<0>(result);
}

/// What stands in the body of an answer, in place of the right body.
struct lying_body {
  const char* name;
  std::string body;
};

void check_bodies(std::int32_t op, const lying_case::step& ask, bool is_read, const std::vector<lying_body>& all) {
  for (const auto& each : all) {
    BOOST_TEST_CONTEXT(each.name) {
      lying_case server;
      const auto error = server.check_lie(
          op, [&](const request& asked) { return framed(head(asked.xid) + each.body); }, ask);
      BOOST_TEST((is_read ? !error : error == errc::connection_loss), error.message());
    }
  }
}

/// Bytes that come in place of the answer to a read.
void check_bytes(const char* name, const lying_case::lie& told) {
  BOOST_TEST_CONTEXT(name) {
    lying_case server;
    const auto error = server.check_lie(op::get_data, told, get);
    BOOST_TEST(!error, error.message());
  }
}

void check_event(const char* name, std::string body) {
  check_bytes(name, [body](const request&) { return framed(head(-1, 0, -1) + body); });
}

void check_tolerated(const char* name, const lying_case::lie& told) {
  BOOST_TEST_CONTEXT(name) {
    lying_case server;
    const auto error = server.check_tolerated(op::get_data, told, get);
    BOOST_TEST(!error, error.message());
  }
}

std::string good(const request& asked) { return framed(head(asked.xid) + text("data") + stat()); }

void check_before_answer(const char* name, const std::string& bytes) {
  check_tolerated(name, [bytes](const request& asked) { return bytes + good(asked); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lies)

BOOST_AUTO_TEST_CASE(lengths_of_frames) {
  for (const auto length : {-1, -4, -5, lowest, 0, 15, (64 << 20) + 1, highest}) {
    check_bytes(std::to_string(length).c_str(), [length](const request&) { return int32(length); });
  }
}

BOOST_AUTO_TEST_CASE(answers_to_nothing) {
  check_bytes("another request", [](const request& asked) { return framed(head(asked.xid + 7) + text("") + stat()); });
  check_bytes("a negative request", [](const request&) { return framed(head(-9) + text("") + stat()); });
  check_bytes("twice", [](const request& asked) { return good(asked) + good(asked); });
  check_bytes("credentials that we have not", [](const request&) { return framed(head(-4)); });
  check_bytes("credentials refused", [](const request&) { return framed(head(-4, -115)); });
}

// To the session such an error is a reply that was lost: it reads again. ClickHouse Keeper sends some of them.
BOOST_AUTO_TEST_CASE(errors_of_the_client_itself) {
  for (const auto code : {-4, -7, -9, -116, -118}) {
    const auto name = std::to_string(code);
    check_tolerated(name.c_str(), [code](const request& asked) { return framed(head(asked.xid, code)); });
  }
}

BOOST_AUTO_TEST_CASE(events) {
  check_event("no body", "");
  check_event("no path", int32(1) + int32(3));
  check_event("a negative path", int32(1) + int32(3) + int32(-1));
  check_event("an endless path", int32(1) + int32(3) + int32(highest) + "/a");
  check_event("the end of the session", int32(-1) + int32(-112) + text(""));
}

BOOST_AUTO_TEST_CASE(data) {
  check_bodies(op::get_data, get, true,
               {{"nothing", ""},
                {"negative", int32(-2) + stat()},
                {"most negative", int32(lowest) + stat()},
                {"huge", int32(highest) + stat()},
                {"longer than the frame", int32(65) + std::string(64, 'x')},
                {"half a stat", text("data") + stat().substr(1)},
                {"a list of children", int32(1) + text("a")}});
}

BOOST_AUTO_TEST_CASE(facts) {
  check_bodies(op::exists, exists, true, {{"nothing", ""}, {"half", stat().substr(1)}, {"children", int32(0)}});
  check_bodies(op::set_data, set, false, {{"nothing", ""}, {"half", stat().substr(1)}});
}

BOOST_AUTO_TEST_CASE(names) {
  check_bodies(op::get_children2, children, true,
               {{"nothing", ""},
                {"no list", int32(-1) + stat()},
                {"most negative", int32(lowest) + stat()},
                {"huge", int32(highest) + stat()},
                {"fewer than said", int32(3) + text("a") + text("b")},
                {"a negative name", int32(1) + int32(-1) + stat()},
                {"a huge name", int32(1) + int32(highest) + stat()},
                {"an empty name", int32(1) + text("") + stat()},
                {"a name with a slash", int32(1) + text("../a") + stat()},
                {"a name with a NUL", int32(1) + text(std::string("a\0b", 3)) + stat()},
                {"half a stat", int32(1) + text("a") + stat().substr(1)}});
}

BOOST_AUTO_TEST_CASE(paths) {
  check_bodies(op::create2, create, false,
               {{"nothing", ""}, {"negative", int32(-1) + stat()}, {"huge", int32(highest)}, {"no stat", text("/a")}});
  check_bodies(op::sync, get, true, {{"nothing", ""}, {"negative", int32(-1)}, {"huge", int32(highest)}});
}

BOOST_AUTO_TEST_CASE(access_lists) {
  check_bodies(op::get_acl, get_acl, true,
               {{"nothing", ""},
                {"negative", int32(-1) + stat()},
                {"huge", int32(highest) + stat()},
                {"no scheme", int32(1) + int32(31)},
                {"a negative scheme", int32(1) + int32(31) + int32(-1) + text("") + stat()},
                {"a huge id", int32(1) + int32(31) + text("world") + int32(highest)}});
}

BOOST_AUTO_TEST_CASE(results_of_a_transaction) {
  const auto created = part(1, false) + text("/a");
  const auto changed = part(5, false) + stat();
  const auto removed = part(2, false);
  const auto failed = part(-1, false, -101) + int32(-101);
  const auto end = part(-1, true, -1);
  check_bodies(op::multi, commit, false,
               {{"nothing", ""},
                {"none", end},
                {"too few", created + changed + end},
                {"too many", created + changed + removed + removed + end},
                {"a change in place of a create", changed + changed + removed + end},
                {"another type than the create's", part(15, false) + text("/a") + changed + removed + end},
                {"another type than the set's", created + part(14, false) + stat() + removed + end},
                {"a check in place of a delete", created + changed + part(13, false) + end},
                {"no type", created + changed + part(0, false) + end},
                {"a wrong type behind an error", failed + failed + part(13, false) + end},
                {"too many errors", failed + failed + failed + failed + end},
                {"no end", created + changed + removed},
                {"a negative path", part(1, false) + int32(-1) + changed + removed + end},
                {"half an error", failed + failed + part(-1, false, -101)}});
}

BOOST_AUTO_TEST_CASE(acceptances) {
  const auto good = granted(0x55, 5000);
  const auto check = [](const char* name, const std::string& bytes) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.check_first_lie(bytes);
    }
  };
  check("no session", granted(0, 0));
  check("session 0", granted(0, 5000));
  check("no time", granted(0x55, 0));
  check("a negative time", granted(0x55, -1));
  check("a time that the C client can not double", granted(0x55, highest));
  check("a negative length", int32(-1) + good.substr(4));
  check("a huge length", int32(highest) + good.substr(4));
  check("too short", framed(good.substr(4, 36)));
  check("too long", framed(good.substr(4) + "x"));
  check("a password of another length", good.substr(0, 20) + int32(highest) + good.substr(24));
  check("an answer before any question", framed(head(1) + text("") + stat()));
}

BOOST_AUTO_TEST_CASE(oddities_that_do_no_harm) {
  check_tolerated("more than the answer needs",
                  [](const request& asked) { return framed(head(asked.xid) + text("data") + stat() + "more"); });
  check_tolerated("no data", [](const request& asked) { return framed(head(asked.xid) + int32(-1) + stat()); });
  check_tolerated("a transaction of the past",
                  [](const request& asked) { return framed(head(asked.xid, 0, lowest) + text("") + stat()); });
  check_before_answer("an event for no watch", event(3, 3, "/other"));
  check_before_answer("an event of no type", event(99, 3, "/a") + event(-2, 3, "/a") + event(0, 0, "/a"));
  check_before_answer("an event of no state", event(3, 12345, "/a"));
  check_before_answer("an event of no path", event(3, 3, "") + event(3, 3, std::string("/a\0b", 4)));
  check_before_answer("a ping that was not asked for", framed(head(-2)));
  check_before_answer("watches that were not set", framed(head(-8)));
}

BOOST_AUTO_TEST_CASE(an_unknown_error_is_an_error_of_the_server) {
  for (const auto code : {-99, -9999, 1, highest, lowest}) {
    lying_case server;
    const auto error = server.check_tolerated(
        op::get_data, [code](const request& asked) { return framed(head(asked.xid, code)); }, get);
    BOOST_TEST((error == errc::server_error), error.message());
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Servers that speak before they are asked. The C client would take what it reads then for an answer, and abort.
namespace {

struct early_case : lying_case {
  const std::string acceptance = granted(0x55, 5000);

  /// Sends `before` as soon as there is a connection, and `after` when the session has been asked for.
  static script speaking(std::string before, std::string after) {
    return [before, after](scripted_connection& client) -> asio::awaitable<void> {
      co_await client.write(before);
      co_await client.read_connect();
      co_await client.write(after);
      co_await answer_all(client);
    };
  }
  void check_early_lie(const char* name, const std::string& before, const std::string& after = {}) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.check_breach(speaking(before, after));
    }
  }
  void check_early(const char* name, const std::string& before, const std::string& after = {}) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.read_behind(speaking(before, after));
      BOOST_TEST(server.connections == 1);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(early, early_case)

BOOST_AUTO_TEST_CASE(whole_frames_that_are_no_acceptance) {
  check_early_lie("an answer", framed(head(1) + text("") + stat()));
  check_early_lie("a ping", framed(head(-2)));
  check_early_lie("an answer to credentials", framed(head(-4)));
  check_early_lie("credentials refused", framed(head(-4, -115)));
  check_early_lie("an event", event(3, 3, "/a"));
  check_early_lie("an event as long as an acceptance", event(3, 3, "/12345678"));
  check_early_lie("a negative length", int32(-1));
  check_early_lie("a huge length", int32(std::numeric_limits<std::int32_t>::max()));
}

BOOST_AUTO_TEST_CASE(parts_of_frames_that_are_no_acceptance) {
  const auto ping = framed(head(-2)), like = event(3, 3, "/12345678");
  check_early_lie("a half length", ping.substr(0, 2), ping.substr(2));
  check_early_lie("a length", ping.substr(0, 4), ping.substr(4));
  check_early_lie("half of a frame as long as an acceptance", like.substr(0, 20), like.substr(20));
  check_early_lie("all but a byte", like.substr(0, like.size() - 1), like.substr(like.size() - 1));
}

BOOST_AUTO_TEST_CASE(an_acceptance_and_a_lie_behind_it) {
  const auto answer = framed(head(1) + text("") + stat());
  check_early_lie("an answer to nothing", acceptance + answer);
  check_early_lie("the start of one", acceptance + answer.substr(0, 9), answer.substr(9));
  check_early_lie("another acceptance", acceptance + acceptance);
  check_early_lie("credentials that we have not", acceptance + framed(head(-4, -115)));
}

// It is the one that would be sent when the session has been asked for.
BOOST_AUTO_TEST_CASE(an_acceptance_does_no_harm) {
  check_early("whole", acceptance);
  for (const std::size_t part : {1, 4, 20, 40}) {
    check_early(std::to_string(part).c_str(), acceptance.substr(0, part), acceptance.substr(part));
  }
  check_early("with a ping behind it", acceptance + framed(head(-2)));
  check_early("with an event behind it", acceptance + event(3, 3, "/a"));
}

// The own process pauses at each step of the connect for longer than the C client waits, and the server speaks
// meanwhile.
BOOST_AUTO_TEST_CASE(while_the_own_process_pauses) {
  for (int steps = 0; steps < 12; ++steps) {
    asio::io_context apart;  // the server's: it runs while the session's does not
    int spoken = 0;
    scripted_server server(apart, [&](scripted_connection client) -> asio::awaitable<void> {
      const bool is_first = ++spoken == 1;
      const auto begin = is_first ? framed(head(1) + text("")) : std::string();
      co_await client.write(begin);
      co_await behave(client);
    });
    auto options = options_for(server_address(server));
    options.timeout = 300ms;
    session zk(io.get_executor(), options);
    for (int i = 0; i < steps; ++i) io.poll_one();
    run_until(
        apart, [&] { return spoken > 0; }, 20ms);  // if there is a connection yet
    std::this_thread::sleep_for(250ms);            // the pause is what is tested
    BOOST_TEST_REQUIRE(run_until(io, [&] {
      apart.restart();
      apart.poll();
      return zk.status().state == session_state::connected;
    }));
    BOOST_TEST(spoken > 1, "the first connection was of no use");
    server.stop();
    apart.poll();
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Answers that come late because the own process has paused: the server is not to blame.
namespace {

constexpr std::int32_t session_timeout_ms = 900;
constexpr auto pause_length = 700ms;  // more than two thirds of it

/// The server's context runs while the session's does not: to the session that is a pause of its process.
struct late_case : lying_case {
  asio::io_context apart;
  bool has_spoken = false;
  bool may_answer = false;
  bool has_ended = false;

  asio::awaitable<void> until_it_may_answer() {
    asio::steady_timer nap(apart);
    while (!may_answer) {
      nap.expires_after(1ms);
      co_await nap.async_wait(asio::use_awaitable);
    }
  }

  /// Answers everything but the second read. For that it sends `first`, and the answer only when it may.
  asio::awaitable<void> serve(scripted_connection& client, std::string first) {
    co_await client.read_connect();
    const auto begin = granted(0x55, session_timeout_ms);
    co_await client.write(begin);
    auto asked = co_await client.read_request();
    for (int reads = 0;; asked = co_await client.read_request()) {
      reads += asked.op == op::get_data;
      if (reads == 2) break;
      co_await client.answer(asked.xid);
    }
    const auto answer = framed(head(asked.xid) + text("late") + stat());
    const bool is_half = first == "half";
    const auto before = is_half ? answer.substr(0, 30) : first;
    const auto rest = is_half ? answer.substr(30) : answer;
    co_await client.write(before);
    has_spoken = true;
    co_await until_it_may_answer();
    co_await client.write(rest);
    co_await answer_all(client);
  }

  bool run_both(const std::function<bool()>& condition, std::chrono::milliseconds limit = time_limit) {
    const auto step = [&] {
      if (apart.stopped()) apart.restart();
      apart.poll();
      return condition();
    };
    return run_until(io, step, limit);
  }

  /// `first` is what lies in the socket when the process goes on.
  void check_pause(const std::string& first) {
    scripted_server server(apart, [this, first](scripted_connection client) -> asio::awaitable<void> {
      ++connections;
      co_await serve(client, first);
    });
    auto options = options_for(server_address(server));
    options.timeout = std::chrono::milliseconds(session_timeout_ms);
    session zk(io.get_executor(), options);
    recorder<node_data> first_reading(io.get_executor()), reading(io.get_executor());
    zk.async_get("/a", first_reading.token());
    BOOST_TEST_REQUIRE(run_both([&] { return first_reading.done(); }));  // no other answer is on its way then
    zk.async_get("/a", reading.token());
    BOOST_TEST_REQUIRE(run_both([&] { return has_spoken; }));
    std::this_thread::sleep_for(pause_length);  // the pause is what is tested
    BOOST_TEST(!run_both([&] { return !lost->empty(); }, 100ms), "the server has had no time to answer");
    may_answer = true;
    BOOST_TEST_REQUIRE(run_both([&] { return reading.done(); }));
    BOOST_TEST(!reading.error(), reading.error().message());
    BOOST_TEST(reading.result<0>().data == "late");
    BOOST_TEST(connections == 1);
    recorder<> closing(io.get_executor());
    zk.async_close(closing.token());
    BOOST_TEST(run_both([&] { return closing.done(); }));
    server.stop();
    apart.poll();
  }

  /// The session is closed, and so many turns of the event loop later the server ends the connection.
  void check_reset(int turns) {
    scripted_server server(apart, [&](scripted_connection client) -> asio::awaitable<void> {
      co_await client.read_connect();
      co_await client.accept(0x55, session_timeout_ms);
      co_await client.await_input();
      has_spoken = true;
      co_await until_it_may_answer();
      client.end_sending();
      has_ended = true;
    });
    session zk(io.get_executor(), options_for(server_address(server)));
    recorder<node_data> reading(io.get_executor());
    zk.async_get("/a", reading.token());
    BOOST_TEST_REQUIRE(run_both([&] { return has_spoken; }));
    may_answer = true;
    recorder<> closing(io.get_executor());
    asio::post(io, [&] { zk.async_close(closing.token()); });
    const std::function<void()> next = [&] {
      if (turns-- > 0) return asio::post(io, next);
      const auto begin = std::chrono::steady_clock::now();
      while (!has_ended && std::chrono::steady_clock::now() - begin < time_limit) apart.poll();
      apart.poll();
    };
    asio::post(io, next);
    BOOST_TEST_REQUIRE(run_until(io, [&] { return has_ended && reading.done() && closing.done(); }));
    BOOST_TEST((reading.error() == errc::closed || reading.error() == errc::connection_loss),
               reading.error().message());
    server.stop();
    apart.poll();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(late, late_case)

BOOST_AUTO_TEST_CASE(behind_an_event) { check_pause(event(3, 3, "/other")); }
BOOST_AUTO_TEST_CASE(behind_a_ping) { check_pause(framed(head(-2))); }
BOOST_AUTO_TEST_CASE(in_two_parts) { check_pause("half"); }
BOOST_AUTO_TEST_CASE(behind_nothing) { check_pause(""); }

// A server that ends a connection with a request unread sends the end of its stream, and then a reset. A write behind
// both of them raises SIGPIPE. They come at each place between the call and the close request.
BOOST_AUTO_TEST_CASE(a_close_behind_a_reset) {
  for (int turns = 0; turns < 10; ++turns) {
    BOOST_TEST_CONTEXT(turns << " turns") {
      late_case each;
      each.check_reset(turns);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
