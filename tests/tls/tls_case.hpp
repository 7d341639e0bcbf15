// A test case with certificates of its own, and servers in this process that speak TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <zkrecipes/session.hpp>

#include <testcluster/authority.hpp>
#include <testcluster/ensemble.hpp>

#include "support/coroutine.hpp"
#include "support/temporary_folder.hpp"

namespace zkrecipes::test {

// A server of this process that speaks TLS and not much more.

namespace asio = boost::asio;

/// Takes the session of each client that completes the handshake. It answers no request.
class tls_server {
 public:
  tls_server(asio::io_context& io, const testcluster::certificate_files& own);
  ~tls_server();
  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;

  std::string address() const { return "127.0.0.1:" + port(); }
  std::string port() const;

  /// Speaks these versions only, such as TLS1_VERSION.
  void speak(int oldest, int newest);
  /// Asks each client for a certificate of this authority.
  void require_client(const std::string& authority);
  /// Refuses clients that are on this list.
  void heed_revocations(const std::string& list);
  /// Refuses each certificate, by an alert that does not say why (40, handshake failure).
  void refuse_without_a_reason();
  /// Ends later connections when the handshake is complete.
  void end_behind_handshakes() { state_->ends_behind_handshakes = true; }
  /// Drops all connections.
  void drop_all();

  std::size_t connects() const noexcept { return state_->connects; }
  std::size_t resumed() const noexcept { return state_->resumed; }
  /// The serial number of the certificate that the latest client has shown; empty: none.
  const std::string& client_serial() const noexcept { return state_->client_serial; }
  /// The name that the latest client has asked for (SNI).
  const std::string& asked_name() const noexcept { return state_->asked_name; }

 private:
  using stream = asio::ssl::stream<asio::ip::tcp::socket>;
  struct state {
    std::size_t connects = 0;
    std::size_t resumed = 0;
    bool ends_behind_handshakes = false;
    std::string client_serial;
    std::string asked_name;
    std::vector<std::weak_ptr<stream>> streams;
  };

  asio::awaitable<void> listen();
  static asio::awaitable<void> serve(std::shared_ptr<stream> client, std::shared_ptr<state> shared);

  asio::ssl::context context_;
  asio::ip::tcp::acceptor acceptor_;
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

struct told_event {
  session_event event;
  log_severity severity;
  error_code error;
  std::string line;
};

struct tls_case {
  temporary_folder folder;
  testcluster::authority authority{folder.path()};
  asio::io_context io;
  std::shared_ptr<std::vector<told_event>> told = std::make_shared<std::vector<told_event>>();

  /// A certificate for a server at 127.0.0.1, which is also called "localhost".
  testcluster::certificate_files server_certificate();

  /// Options of a session that trusts `authority`, at this address, with a log that fills `told`.
  session_options options_for(const std::string& address) const;

  /// The first failure of a session with these options. It has to come within two seconds.
  connection_failure failure_of(const session_options& options);

  /// Requires that a session with these options fails with this error, in the status and in the log.
  void check_refusal(const session_options& options, tls_errc expected);

  std::size_t count(session_event which) const;
};

// A real server with a port for TLS and one without, for all cases of this program.

/// The first call starts it. There is a proxy in front of its port for TLS.
testcluster::ensemble& secure_server();

struct secure_case : tls_case {
  testcluster::ensemble& cluster = secure_server();
  testcluster::node_info server = cluster.nodes().front();

  secure_case() { cluster.heal(); }

  /// Options of a session that shows this certificate.
  session_options options_with(const testcluster::certificate_files& own) const;
  session_options options() { return options_with(cluster.client_certificate()); }

  template <class T>
  T run(asio::awaitable<T> body) {
    return run_coroutine(io, std::move(body));
  }
};

}  // namespace zkrecipes::test
