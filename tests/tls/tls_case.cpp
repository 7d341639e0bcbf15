#include "tls/tls_case.hpp"

#include <algorithm>

#include <openssl/ssl.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include "support/single_server.hpp"

namespace zkrecipes::test {

testcluster::ensemble& secure_server() {
  static testcluster::ensemble shared(single_server({.tls = true, .delay_proxies = true}));
  return shared;
}

session_options secure_case::options_with(const testcluster::certificate_files& own) const {
  auto options = options_for(cluster.hosts());
  options.tls->authorities = cluster.authority().certificate().string();
  options.tls->certificate = own.certificate.string();
  options.tls->key = own.key.string();
  return options;
}

using asio::ip::tcp;

namespace {

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

/// The answer to the first frame: protocol 0, a timeout of ten seconds, an id, a password, not read-only.
std::string acceptance() {
  std::string frame("\0\0\0\x25\0\0\0\0\0\0\x27\x10\0\0\0\0\0\0\0\x77\0\0\0\x10", 24);
  return frame + std::string(16, 'p') + '\0';
}

std::string serial_of(SSL* connection) {
  X509* certificate = SSL_get0_peer_certificate(connection);
  if (!certificate) return {};
  const auto* serial = X509_get0_serialNumber(certificate);
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
          static_cast<std::size_t>(ASN1_STRING_length(serial))};
}

}  // namespace

tls_server::tls_server(asio::io_context& io, const testcluster::certificate_files& own)
    : context_(asio::ssl::context::tls_server), acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
  context_.use_certificate_chain_file(own.certificate.string());
  context_.use_private_key_file(own.key.string(), asio::ssl::context::pem);
  asio::co_spawn(io, listen(), asio::detached);
}

tls_server::~tls_server() {
  acceptor_.close();
  drop_all();
}

std::string tls_server::port() const { return std::to_string(acceptor_.local_endpoint().port()); }

/// OpenSSL's security level of Debian forbids TLS 1.0 and 1.1, also to servers.
void tls_server::speak(int oldest, int newest) {
  SSL_CTX_set_security_level(context_.native_handle(), 0);
  SSL_CTX_set_min_proto_version(context_.native_handle(), oldest);
  SSL_CTX_set_max_proto_version(context_.native_handle(), newest);
}

void tls_server::require_client(const std::string& authority) {
  context_.load_verify_file(authority);
  context_.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  const unsigned char here[] = "tests";
  SSL_CTX_set_session_id_context(context_.native_handle(), here, sizeof here - 1);
}

void tls_server::heed_revocations(const std::string& list) {
  context_.load_verify_file(list);
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context_.native_handle()), X509_V_FLAG_CRL_CHECK);
}

void tls_server::refuse_without_a_reason() {
  context_.set_verify_callback([](bool, asio::ssl::verify_context& certificate) {
    X509_STORE_CTX_set_error(certificate.native_handle(), X509_V_ERR_APPLICATION_VERIFICATION);
    return false;
  });
}

void tls_server::drop_all() {
  boost::system::error_code ignored;
  for (const auto& each : state_->streams) {
    if (const auto alive = each.lock()) alive->next_layer().close(ignored);
  }
  state_->streams.clear();
}

asio::awaitable<void> tls_server::listen() {
  auto executor = acceptor_.get_executor();
  for (;;) {
    auto accepted = co_await acceptor_.async_accept(as_tuple);
    if (std::get<0>(accepted)) co_return;
    auto client = std::make_shared<stream>(std::move(std::get<1>(accepted)), context_);
    state_->streams.push_back(client);
    asio::co_spawn(executor, serve(client, state_), asio::detached);
  }
}

asio::awaitable<void> tls_server::serve(std::shared_ptr<stream> client, std::shared_ptr<state> shared) {
  auto greeted = co_await client->async_handshake(asio::ssl::stream_base::server, as_tuple);
  if (std::get<0>(greeted)) co_return;
  auto* connection = client->native_handle();
  ++shared->connects;
  shared->resumed += SSL_session_reused(connection) == 1;
  shared->client_serial = serial_of(connection);
  const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  shared->asked_name = name ? name : "";
  if (shared->ends_behind_handshakes) co_return;
  std::string frame(49, '\0');
  auto read = co_await asio::async_read(*client, asio::buffer(frame), as_tuple);
  if (std::get<0>(read)) co_return;
  const auto answer = acceptance();
  co_await asio::async_write(*client, asio::buffer(answer), as_tuple);
  for (;;) {
    auto ended = co_await client->async_read_some(asio::buffer(frame), as_tuple);
    if (std::get<0>(ended)) co_return;
  }
}

testcluster::certificate_files tls_case::server_certificate() {
  return authority.issue({.name = "server", .hosts = {"127.0.0.1", "localhost"}});
}

session_options tls_case::options_for(const std::string& address) const {
  session_options options;
  options.hosts = address;
  options.tls = tls_options{.authorities = authority.certificate().string()};
  options.log = [into = told](const log_event& each) {
    into->push_back({each.event, each.severity, each.error, to_string(each)});
  };
  return options;
}

connection_failure tls_case::failure_of(const session_options& options) {
  session zk(io.get_executor(), options);
  const bool has_failed = run_until(
      io, [&] { return !zk.status().failures.empty(); }, 2s);
  BOOST_TEST_REQUIRE(has_failed);
  return zk.status().failures.front();
}

void tls_case::check_refusal(const session_options& options, tls_errc expected) {
  const auto failure = failure_of(options);
  BOOST_TEST((failure.reason == failure_reason::tls), to_string(failure.reason));
  BOOST_TEST(failure.error == make_error_code(expected), failure.error.message());
  const auto found = std::ranges::find(*told, session_event::connect_failed, &told_event::event);
  BOOST_TEST_REQUIRE((found != told->end()));
  BOOST_TEST(found->error == make_error_code(expected), found->line);
}

std::size_t tls_case::count(session_event which) const {
  return static_cast<std::size_t>(std::ranges::count(*told, which, &told_event::event));
}

}  // namespace zkrecipes::test
