// A client's connection to one server: two pipes, and the requests that the server has not answered yet.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "model/access.hpp"
#include "world/pipe.hpp"

namespace zkrecipes::simulation {

/// The client's end of a connection. Called when something arrives there.
class peer {
 public:
  virtual void granted(const backend::session_key& key) = 0;
  virtual void refused() = 0;                        ///< The server does not know the session (any more).
  virtual void answered(backend::reply answer) = 0;  ///< Answers the oldest unanswered request.
  virtual void ponged() = 0;
  virtual void fired(const backend::watch_event& event) = 0;
  virtual void broken() = 0;

 protected:
  ~peer() = default;
};

struct waiting_request {
  backend::request what;
  bool ping = false;
  bool forwarded = false;  ///< Sent on to the leader: later requests of the connection wait for its result.
  bool throttled = false;  ///< The server will answer with an error.
  identities who{};  ///< Those of the connection when the request arrived, because credentials can be added later.
};

struct connection {
  std::uint64_t number = 0;
  int client = 0;  ///< Number of the process.
  int server = 0;
  peer* end = nullptr;  ///< Null once the client has dropped it.
  pipe_ptr up;
  pipe_ptr down;
  backend::session_key key;
  identities who;
  bool closed = false;  ///< Closed by the server.
  instant heard{0};     ///< When the server last received something from the client.
  std::deque<waiting_request> waiting;

  // Faults that are still to happen.
  bool lose_next_request = false;  ///< The connection breaks before the next request arrives.
  bool lose_next_answer = false;   ///< The connection breaks before the answer to the next write is sent.
  bool may_not_hear = false;       ///< For now no watch event is for this connection to know: see `watch_table`.
};

using connection_ptr = std::shared_ptr<connection>;

}  // namespace zkrecipes::simulation
