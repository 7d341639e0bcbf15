// A test case with certificates of its own, and servers in this process that speak TLS.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include <testcluster/authority.hpp>

#include "support/coroutine.hpp"
#include "support/temporary_folder.hpp"
#include "tls/tls_server.hpp"

namespace zkrecipes::test {

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

}  // namespace zkrecipes::test
