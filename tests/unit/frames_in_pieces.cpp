// Answers that arrive in pieces.
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/endian/buffers.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include "support/coroutine.hpp"
#include "support/scripted_server.hpp"
#include "unit/no_descriptors.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::int32_t op_get = 4;
constexpr std::int32_t err_no_node = -101;

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
