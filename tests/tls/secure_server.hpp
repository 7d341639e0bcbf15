// A real server with a port for TLS and one without, for all cases of this program.
#pragma once

#include <string>
#include <utility>

#include <testcluster/ensemble.hpp>

#include "tls/tls_case.hpp"

namespace zkrecipes::test {

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
