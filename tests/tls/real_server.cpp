// A real server that speaks TLS.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include "ensemble/career.hpp"
#include "tls/tls_case.hpp"

namespace zkrecipes::test {

// Passes connections on to a server, keeps every byte, and counts round trips.

namespace asio = boost::asio;

class captured_stream {
 public:
  /// `server` is "address:port".
  captured_stream(asio::io_context& io, const std::string& server)
      : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), seen_(std::make_shared<record>()) {
    const auto colon = server.find(':');
    server_ = {asio::ip::make_address(server.substr(0, colon)),
               static_cast<std::uint16_t>(std::stoi(server.substr(colon + 1)))};
    asio::co_spawn(io, accept(), asio::detached);
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  const std::string& bytes() const noexcept { return seen_->bytes; }
  /// How often the client has begun to send after the server had sent something.
  std::size_t round_trips() const noexcept { return seen_->round_trips; }
  void stop() { acceptor_.close(); }

 private:
  using tcp = asio::ip::tcp;
  using socket_ptr = std::shared_ptr<tcp::socket>;
  struct record {
    void note(const char* from, std::size_t size, bool by_client) {
      bytes.append(from, size);
      round_trips += by_client && !is_clients_turn;
      is_clients_turn = by_client;
    }
    std::string bytes;
    std::size_t round_trips = 0;
    bool is_clients_turn = false;
  };

  asio::awaitable<void> accept() {
    auto executor = acceptor_.get_executor();
    for (;;) {
      auto accepted = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
      if (std::get<0>(accepted)) co_return;
      auto client = std::make_shared<tcp::socket>(std::move(std::get<1>(accepted)));
      auto server = std::make_shared<tcp::socket>(executor);
      server->connect(server_);
      asio::co_spawn(executor, pass(client, server, seen_, true), asio::detached);
      asio::co_spawn(executor, pass(server, client, seen_, false), asio::detached);
    }
  }

  static asio::awaitable<void> pass(socket_ptr from, socket_ptr to, std::shared_ptr<record> kept, bool by_client) {
    std::array<char, 4096> buffer;
    for (;;) {
      auto read = co_await from->async_read_some(asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
      if (std::get<0>(read)) break;
      if (!by_client) co_await let_client_finish();
      kept->note(buffer.data(), std::get<1>(read), by_client);
      co_await asio::async_write(*to, asio::buffer(buffer, std::get<1>(read)), asio::as_tuple(asio::use_awaitable));
    }
    boost::system::error_code ignored;
    to->shutdown(tcp::socket::shutdown_send, ignored);
  }

  /// An answer waits until the client, which runs in this thread, has sent all that it sends of itself: else a server
  /// that answers the first of two requests while this process has no processor makes two round trips of one.
  static asio::awaitable<void> let_client_finish() {
    for (int turn = 0; turn < 100; ++turn) co_await asio::post(asio::use_awaitable);
  }

  tcp::acceptor acceptor_;
  tcp::endpoint server_;
  std::shared_ptr<record> seen_;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct real_case : secure_case {
  error_code create(session& zk, const std::string& path, const std::string& data = {}, acl access = {}) {
    auto done = run(zk.async_create(path, data, create_mode::ephemeral, access, tuple));
    return std::get<0>(done);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_real_server, real_case)

BOOST_AUTO_TEST_CASE(a_node_is_created) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/first", "data") == error_code());
  auto read = run(zk.async_get("/first", tuple));
  BOOST_TEST(std::get<0>(read) == error_code());
  BOOST_TEST(std::get<1>(read).data == "data");
  BOOST_TEST(zk.status().server == server.proxy);
  run(zk.async_close(tuple));
  BOOST_TEST(zk.counters().connects == 1u);
}

BOOST_AUTO_TEST_CASE(much_data_passes_both_ways) {
  session zk(io.get_executor(), options());
  const std::string data(900'000, 'x');
  BOOST_TEST(create(zk, "/large", data) == error_code());
  auto read = run(zk.async_get("/large", tuple));
  BOOST_TEST((std::get<1>(read).data == data));
}

BOOST_AUTO_TEST_CASE(a_certificate_is_an_identity_in_an_acl) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/own", "data", {x509_entry("CN=client")}) == error_code());
  session other(io.get_executor(), options_with(cluster.authority().issue({.name = "other"})));
  auto read = run(other.async_get("/own", tuple));
  BOOST_TEST((std::get<0>(read) == errc::no_auth), std::get<0>(read).message());
  auto written = run(other.async_set("/own", "theirs", any_version, tuple));
  BOOST_TEST((std::get<0>(written) == errc::no_auth), std::get<0>(written).message());
  written = run(zk.async_set("/own", "ours", any_version, tuple));
  BOOST_TEST(std::get<0>(written) == error_code());
  auto shown = run(zk.async_get_acl("/own", tuple));
  BOOST_TEST((std::get<1>(shown) == acl{x509_entry("CN=client")}));
}

BOOST_AUTO_TEST_CASE(the_acl_of_the_creator_names_its_certificate) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/mine", "data", creator_acl()) == error_code());
  auto shown = run(zk.async_get_acl("/mine", tuple));
  const auto& all = std::get<1>(shown);
  BOOST_TEST((std::ranges::count(all, x509_entry("CN=client")) == 1));
}

BOOST_AUTO_TEST_CASE(a_certificate_will_do_for_a_server_that_demands_credentials) {
  testcluster::ensemble strict({.servers = 1, .tls = true, .auth_required = true, .start_timeout = 120s});
  auto with = options_with(strict.client_certificate());
  with.hosts = strict.hosts();
  with.tls->authorities = strict.authority().certificate().string();
  session zk(io.get_executor(), with);
  BOOST_TEST(create(zk, "/made") == error_code());
  BOOST_TEST(zk.status().failures.empty());
  run(zk.async_close(tuple));
  auto plain = options_for(strict.nodes().front().address);
  plain.tls.reset();
  const auto failure = failure_of(plain);
  BOOST_TEST((failure.error == errc::auth_required), failure.error.message());
}

BOOST_AUTO_TEST_CASE(the_server_asks_for_a_certificate) {
  auto without = options();
  without.tls->certificate.clear();
  without.tls->key.clear();
  check_refusal(without, tls_errc::certificate_required);
}

BOOST_AUTO_TEST_CASE(the_server_does_not_know_our_authority) {
  check_refusal(options_with(authority.issue({.name = "stranger"})), tls_errc::own_certificate_refused);
}

BOOST_AUTO_TEST_CASE(our_certificate_has_expired) {
  check_refusal(options_with(cluster.authority().issue({.name = "late", .end = -1s})),
                tls_errc::own_certificate_expired);
}

/// The server reads the list of the authority when it sees the first certificate, so the list is complete before.
/// The certificates tell where that list is, in a folder whose name has to be written in another way there.
BOOST_AUTO_TEST_CASE(our_certificate_is_revoked) {
  testcluster::ensemble strict({.servers = 1,
                                .dir = folder.path() / "a, 100% c",
                                .tls = true,
                                .extra_config = {"ssl.crl=true"},
                                .start_timeout = 120s});
  const auto revoked = strict.authority().issue({.name = "revoked"});
  strict.authority().revoke(revoked.certificate);
  auto with = options_with(strict.client_certificate());
  with.hosts = strict.hosts();
  with.tls->authorities = strict.authority().certificate().string();
  session zk(io.get_executor(), with);
  BOOST_TEST(create(zk, "/taken") == error_code());
  with.tls->certificate = revoked.certificate.string();
  with.tls->key = revoked.key.string();
  told->clear();  // a server that has just been started can be slow in its first handshake
  check_refusal(with, tls_errc::own_certificate_refused);
}

BOOST_AUTO_TEST_CASE(plain_text_at_the_secure_port) {
  auto plain = options_for(server.secure);
  plain.tls.reset();
  const auto failure = failure_of(plain);
  BOOST_TEST((failure.reason == failure_reason::closed), to_string(failure.reason));
}

BOOST_AUTO_TEST_CASE(tls_at_the_plain_port) {
  auto wrong = options();
  wrong.hosts = server.address;
  check_refusal(wrong, tls_errc::not_tls);
}

BOOST_AUTO_TEST_CASE(the_session_outlives_its_connections) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/lasting") == error_code());
  const auto id = zk.status().session_id;
  for (int i = 0; i < 5; ++i) {
    cluster.proxy(1).cut();
    auto read = run(zk.async_get("/lasting", tuple));
    BOOST_TEST(std::get<0>(read) == error_code());
  }
  BOOST_TEST(zk.status().session_id == id);
  BOOST_TEST(zk.counters().connects > 1u);
}

BOOST_AUTO_TEST_CASE(a_stream_without_plain_text) {
  const std::string secret = "a secret in our data";
  captured_stream wire(io, server.secure);
  auto through = options();
  through.hosts = wire.address();
  through.tls->server_name = "localhost";
  through.digest = {{"user", "a secret of our digest"}};
  {
    session zk(io.get_executor(), through);
    BOOST_TEST(create(zk, "/a-secret-path", secret) == error_code());
    auto read = run(zk.async_get("/a-secret-path", tuple));
    BOOST_TEST(std::get<1>(read).data == secret);
    run(zk.async_close(tuple));
  }
  BOOST_TEST(wire.bytes().size() > 1000u);
  for (const auto* part : {"secret", "user", "digest", "zookeeper"})
    BOOST_TEST(wire.bytes().find(part) == std::string::npos);
  wire.stop();
}

BOOST_AUTO_TEST_CASE(fifty_reloads_under_load) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/counter") == error_code());
  const auto id = zk.status().session_id;
  std::size_t reads = 0, failures = 0;
  bool is_over = false;
  auto load = [&]() -> asio::awaitable<bool> {
    while (!is_over) {
      auto read = co_await zk.async_get("/counter", tuple);
      ++(std::get<0>(read) ? failures : reads);
    }
    co_return true;
  };
  bool has_ended = false;
  asio::co_spawn(io, load(), [&](std::exception_ptr, bool) { has_ended = true; });
  // The files are read when a connection is begun. A cut would spare a connection that the proxy has not accepted yet,
  // so each connection is up before it is cut.
  const auto is_up = [&] { return zk.status().state == session_state::connected; };
  for (std::size_t i = 1; i <= 50; ++i) {
    cluster.authority().issue({.name = "client"});
    cluster.proxy(1).cut();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return count(session_event::certificates_reloaded) == i && is_up(); }));
    BOOST_TEST_REQUIRE(run_until(io, [&, before = reads] { return reads > before; }));
  }
  is_over = true;
  BOOST_TEST(run_until(io, [&] { return has_ended; }));
  BOOST_TEST(failures == 0u);
  BOOST_TEST(zk.status().session_id == id);
  BOOST_TEST(zk.counters().incarnations == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

// The round trips of operations are the same with TLS and without.

namespace {

using counts = std::map<std::string, std::size_t>;

struct trips_case : secure_case {
  /// What a session with these options needs for each operation. `port` is one of the server.
  counts trips_of(session_options with, const std::string& port) {
    captured_stream wire(io, port);
    with.hosts = wire.address();
    with.timeout = 60s;  // no ping in between
    session zk(io.get_executor(), with);
    run(zk.async_ensure_path("/trips", tuple));
    counts seen;
    const auto count = [&](const std::string& name, auto&& operation) {
      run(zk.async_sync(tuple));  // an answer that is still on its way would make one round trip of two
      const auto before = wire.round_trips();
      operation();
      seen[name] = wire.round_trips() - before;
    };
    count("create", [&] { require(run(zk.async_create("/trips/n", "", create_mode::ephemeral, tuple))); });
    count("two at once", [&] { two_at_once(zk); });
    lock mutex(zk, "/trips/lock");
    ownership held;
    count("acquire", [&] {
      auto acquired = run(mutex.async_acquire(tuple));
      require(acquired);
      held = std::move(std::get<1>(acquired));
    });
    count("release", [&] { require(run(held.async_release(tuple))); });
    count_commit(zk, count);
    require(run(zk.async_close(tuple)));
    wire.stop();
    return seen;
  }

 private:
  template <class Result>
  static void require(const Result& result) {
    BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
  }
  void two_at_once(session& zk) {
    recorder<created_node> first(io.get_executor()), second(io.get_executor());
    zk.async_create("/trips/a", "", create_mode::ephemeral, first.token());
    zk.async_create("/trips/b", "", create_mode::ephemeral, second.token());
    BOOST_TEST_REQUIRE(run_until(io, [&] { return first.done() && second.done(); }));
  }
  template <class Count>
  void count_commit(session& zk, const Count& count) {
    floor_space floor;
    career does(floor);
    consumer_coordinator leader(zk, "/trips/election", {.id = "a"});
    recorder<> ended(io.get_executor());
    leader.async_run(does, ended.token());
    BOOST_TEST_REQUIRE(run_until(io, [&] { return does.has("execute " + std::to_string(epoch_ + 1)); }));
    ++epoch_;
    run(zk.async_sync(tuple));
    count("commit", [&] {
      require(run(does.terms.front().async_commit(transaction().create("/trips/c").remove("/trips/c"), tuple)));
    });
    leader.stop();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return ended.done(); }));
  }

  std::int64_t epoch_ = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_costs, trips_case)

BOOST_AUTO_TEST_CASE(round_trips_are_those_of_plain_text) {
  auto secure = options();
  secure.tls->server_name = "localhost";
  auto plain = secure;
  plain.tls.reset();
  trips_of(plain, server.address);  // makes the paths, which costs round trips of its own
  const auto expected = trips_of(plain, server.address);
  const auto seen = trips_of(secure, server.secure);
  BOOST_TEST_REQUIRE(seen.size() == expected.size());
  for (const auto& [name, trips] : expected)
    BOOST_TEST(seen.at(name) == trips, name << ": " << seen.at(name) << ", without TLS " << trips);
  BOOST_TEST(expected.at("create") == 1u);
  BOOST_TEST(expected.at("commit") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
