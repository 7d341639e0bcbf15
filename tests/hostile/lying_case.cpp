#include "hostile/lying_case.hpp"

#include <algorithm>

#include <boost/endian/buffers.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

namespace zkrecipes::test::frame {

namespace {

constexpr std::int32_t of_watch = -1;

}  // namespace

std::string int32(std::int32_t value) {
  const boost::endian::big_int32_buf_t bytes(value);
  return {reinterpret_cast<const char*>(bytes.data()), 4};
}

std::string int64(std::int64_t value) {
  const boost::endian::big_int64_buf_t bytes(value);
  return {reinterpret_cast<const char*>(bytes.data()), 8};
}

std::string text(std::string_view value) { return int32(static_cast<std::int32_t>(value.size())) + std::string(value); }

std::string framed(std::string_view body) { return text(body); }

std::string head(std::int32_t xid, std::int32_t error, std::int64_t zxid) {
  return int32(xid) + int64(zxid) + int32(error);
}

std::string stat() { return std::string(68, '\0'); }

std::string part(std::int32_t type, bool is_done, std::int32_t error) {
  return int32(type) + std::string(1, is_done ? '\1' : '\0') + int32(error);
}

std::string event(std::int32_t type, std::int32_t state, std::string_view path) {
  return framed(head(of_watch, 0, -1) + int32(type) + int32(state) + text(path));
}

std::string granted(std::int64_t id, std::int32_t timeout_ms) {
  return framed(int32(0) + int32(timeout_ms) + int64(id) + text(std::string(16, 'p')) + std::string(1, '\0'));
}

}  // namespace zkrecipes::test::frame

namespace zkrecipes::test {

namespace op = testcluster::op;

namespace {

constexpr std::int32_t of_ping = -2;
constexpr std::int32_t of_credentials = -4;
constexpr std::int32_t err_no_node = -101;

std::string honest(const lying_case::request& asked) {
  using namespace frame;
  if (asked.op == op::ping) return framed(head(of_ping));
  if (asked.op == op::auth) return framed(head(of_credentials));
  if (asked.op == op::create2) return framed(head(asked.xid) + text("/a") + stat());
  if (asked.op == op::multi) return framed(head(asked.xid, err_no_node));
  return framed(head(asked.xid) + std::string(4, '\0') + stat());
}

}  // namespace

session_options lying_case::options_for(const std::string& address) const {
  session_options options;
  options.hosts = address;
  if (over_tls()) options.tls = options_for_fronts();
  options.timeout = 5s;
  options.digest = digest;
  options.retry.first_pause = 1ms;
  options.retry.max_pause = 10ms;
  options.log = [into = lost](const log_event& each) {
    if (each.event == session_event::connection_lost || each.event == session_event::connect_failed)
      into->push_back(each.error);
  };
  return options;
}

std::string lying_case::server_address(const scripted_server& server) {
  if (!over_tls()) return server.address();
  front.emplace(server.address());
  return front->address();
}

asio::awaitable<void> lying_case::behave(scripted_connection& client) {
  const lie none;
  co_await lie_once(client, 0, none);
}

asio::awaitable<void> lying_case::lie_once(scripted_connection& client, std::int32_t op, const lie& told) {
  const auto asked_id = co_await client.read_connect();
  const auto accepted = frame::granted(asked_id ? asked_id : 0x55, 5000);
  co_await client.write(accepted);
  co_await answer_all(client, op, told);
}

asio::awaitable<void> lying_case::answer_all(scripted_connection& client, std::int32_t op, const lie& told) {
  for (bool has_lied = !told;;) {
    const auto asked = co_await client.read_request();
    const bool lies = !has_lied && asked.op == op;
    has_lied = has_lied || lies;
    const auto bytes = lies ? told(asked) : honest(asked);
    co_await client.write(bytes);
    if (asked.op == op::close_session) co_return;
  }
}

error_code lying_case::run(std::int32_t op, const lie& told, const step& ask) {
  scripted_server server(io, [this, op, told](scripted_connection client) -> asio::awaitable<void> {
    const bool is_first = connections++ == 0;
    if (is_first && !lie_at_first.empty()) {
      co_await client.read_connect();
      co_await client.write(lie_at_first);
      co_await client.until_end();
    } else {
      const lie now = is_first ? told : lie();
      co_await lie_once(client, op, now);
    }
  });
  session zk(io.get_executor(), options_for(server_address(server)));
  const auto error = run_coroutine(io, ask(zk));
  const auto again = run_coroutine(io, zk.async_get("/", tuple));
  BOOST_TEST(!std::get<0>(again), "the session goes on: " << std::get<0>(again).message());
  run_coroutine(io, zk.async_close(tuple));
  server.stop();
  return error;
}

void lying_case::read_behind(const script& first, const std::function<void(session_options&)>& adjust) {
  scripted_server server(io, [this, first](scripted_connection client) -> asio::awaitable<void> {
    if (connections++ == 0) {
      co_await first(client);
    } else {
      co_await behave(client);
    }
  });
  auto options = options_for(server_address(server));
  if (adjust) adjust(options);
  session zk(io.get_executor(), options);
  const auto got = run_coroutine(io, zk.async_get("/a", tuple));
  BOOST_TEST(!std::get<0>(got), std::get<0>(got).message());
  run_coroutine(io, zk.async_close(tuple));
  server.stop();
}

void lying_case::check_breach(const script& first) {
  read_behind(first);
  BOOST_TEST(connections == 2);
  BOOST_TEST(!lost->empty());
  for (const auto& each : *lost) BOOST_TEST((each == boost::system::errc::protocol_error), each.message());
}

error_code lying_case::check_lie(std::int32_t op, const lie& told, const step& ask) {
  const auto error = run(op, told, ask);
  BOOST_TEST(connections == 2, "the connection was dropped once");
  BOOST_TEST(!lost->empty());
  for (const auto& each : *lost) BOOST_TEST((each == boost::system::errc::protocol_error), each.message());
  return error;
}

error_code lying_case::check_tolerated(std::int32_t op, const lie& told, const step& ask) {
  const auto error = run(op, told, ask);
  BOOST_TEST(connections == 1);
  return error;
}

void lying_case::check_first_lie(std::string bytes) {
  lie_at_first = std::move(bytes);
  const auto look = [](session& zk) -> asio::awaitable<error_code> {
    auto result = co_await zk.async_get("/a", tuple);
    co_return std::get<0>(result);
  };
  const auto error = check_lie(0, nullptr, look);
  BOOST_TEST(!error, error.message());
}

}  // namespace zkrecipes::test
