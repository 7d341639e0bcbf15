// How a session finds a server that takes it.
#pragma once

#include <chrono>
#include <memory>

#include "backend/link.hpp"
#include "session/credentials.hpp"
#include "session/outcomes.hpp"
#include "session/requests.hpp"
#include "session/server_list.hpp"

namespace zkrecipes::backend {
class tls_context;
}

namespace zkrecipes::detail {

class connector {
 public:
  connector(session_life& whose, connection& present, backend::link_listener& told, known_servers& servers,
            credential_list& given);

  /// Connects again and again, until the session is closed or has ended.
  awaitable<void> run();
  /// The end of the session is not waited for longer than until then.
  void close_by(lease_clock::time_point deadline);
  /// The server has not confirmed the end of the session in time.
  bool is_unconfirmed() const noexcept { return is_unconfirmed_; }

 private:
  awaitable<bool> connect_somewhere();
  awaitable<bool> connect_to(backend::endpoint server);
  awaitable<void> serve();
  awaitable<void> pause_before_next_round();
  void refresh_certificates();
  std::chrono::milliseconds connect_timeout() const;

  session_life& life_;
  connection& connection_;
  backend::link_listener& listener_;
  known_servers& servers_;
  credential_list& credentials_;
  std::shared_ptr<backend::tls_context> tls_;  // null: plain text
  back_off pause_;
  lease_clock::time_point close_by_ = never;
  bool is_unconfirmed_ = false;
};

}  // namespace zkrecipes::detail
