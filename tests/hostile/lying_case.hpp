// A session at a server that lies once, and then behaves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/session.hpp>

#include "support/coroutine.hpp"
#include "support/scripted_server.hpp"
#include "support/tls_front.hpp"

namespace zkrecipes::test::frame {

// The parts of what a ZooKeeper server sends, for servers that send it wrongly.

std::string int32(std::int32_t value);
std::string int64(std::int64_t value);
/// A text behind its length.
std::string text(std::string_view value);
/// The body behind its length.
std::string framed(std::string_view body);

/// The head of an answer.
std::string head(std::int32_t xid, std::int32_t error = 0, std::int64_t zxid = 1);
/// The facts of a node, all of them 0.
std::string stat();
/// The head of one result of a transaction.
std::string part(std::int32_t type, bool is_done, std::int32_t error = 0);
/// A watch event, as a frame.
std::string event(std::int32_t type, std::int32_t state, std::string_view path);
/// The answer to a connect request, as a frame.
std::string granted(std::int64_t id, std::int32_t timeout_ms);

}  // namespace zkrecipes::test::frame

namespace zkrecipes::test {

struct lying_case {
  using request = scripted_connection::request;
  /// The bytes that take the place of the answer to a request.
  using lie = std::function<std::string(const request&)>;
  /// One operation of a session, for its error.
  using step = std::function<asio::awaitable<error_code>(session&)>;

  asio::io_context io;
  std::shared_ptr<std::vector<error_code>> lost = std::make_shared<std::vector<error_code>>();  // as the log tells
  int connections = 0;
  std::string lie_at_first;  // what the first connection gets in place of the answer to its connect request

  std::vector<credentials> digest;  // of the session

  std::optional<tls_front> front;  // the latest

  session_options options_for(const std::string& address) const;
  /// Where a session reaches the server: by TLS, if the tests run over TLS.
  std::string server_address(const scripted_server& server);

  /// Answers everything, as a server of an empty tree.
  asio::awaitable<void> behave(scripted_connection& client);
  /// Takes the session. Answers the first request of this type with the lie, and the others as a good server.
  asio::awaitable<void> lie_once(scripted_connection& client, std::int32_t op, const lie& told);
  /// Answers as `lie_once` does, once the session is taken.
  static asio::awaitable<void> answer_all(scripted_connection& client, std::int32_t op = 0, const lie& told = {});

  /// What the server does with one connection.
  using script = std::function<asio::awaitable<void>(scripted_connection&)>;
  /// Requires that a read succeeds at a server whose first connection follows the script, and whose later ones are
  /// good. `adjust` gets the options of the session.
  void read_behind(const script& first, const std::function<void(session_options&)>& adjust = {});
  /// The same, and that the session has dropped the first connection, for a breach of the protocol.
  void check_breach(const script& first);

  /// Requires that the session drops the connection that lied about `op`, tells why, and goes on with the next one.
  /// Returns the error of the step.
  error_code check_lie(std::int32_t op, const lie& told, const step& ask);
  /// As `check_lie`, but the server does nothing wrong, or nothing that the session has to mind.
  error_code check_tolerated(std::int32_t op, const lie& told, const step& ask);
  /// The same for the answer to the first connect request.
  void check_first_lie(std::string bytes);

 private:
  error_code run(std::int32_t op, const lie& told, const step& ask);
};

}  // namespace zkrecipes::test
