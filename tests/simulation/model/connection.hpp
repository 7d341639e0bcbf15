// A client's connection to one server: two pipes, and what the server has in work for it.
#pragma once

#include "backend/backend.hpp"
#include "model/access.hpp"
#include "world/pipe.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

namespace zkrecipes::simulation {

/// The client's end. Called when something arrives there.
class peer {
 public:
  virtual void granted(const backend::session_key& key) = 0;
  virtual void refused() = 0;                        ///< The session is not known (any more).
  virtual void answered(backend::reply answer) = 0;  ///< The oldest request that was not answered.
  virtual void ponged() = 0;
  virtual void fired(const backend::watch_event& event) = 0;
  virtual void broken() = 0;

 protected:
  ~peer() = default;
};

struct waiting_request {
  backend::request what;
  bool ping = false;
  bool forwarded = false;  ///< To the leader: what is behind has to wait for it.
  bool throttled = false;  ///< To be answered with an error.
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
  bool closed = false;  ///< By the server.
  instant heard{0};     ///< When something last came from the client.
  std::deque<waiting_request> waiting;

  // Faults to come.
  bool lose_next_request = false;  ///< The connection breaks before the next request arrives.
  bool lose_next_answer = false;   ///< The connection breaks before the answer to the next write is sent.
};

using connection_ptr = std::shared_ptr<connection>;

}  // namespace zkrecipes::simulation
