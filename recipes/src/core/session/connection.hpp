#pragma once

#include <memory>

#include <zkrecipes/lease_clock.hpp>

#include "backend/endpoint.hpp"
#include "backend/link.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// The connection of a session to a server, or the attempt to get one.
struct connection {
  explicit connection(scheduler_ptr on) : changed(std::move(on)) {}

  /// A request can be sent, and its answer is believed.
  bool is_usable() const noexcept { return link && is_up && !is_past; }

  std::unique_ptr<backend::link> link;
  backend::endpoint server;
  lease_clock::time_point asked{};
  error_code error;  ///< Why it has ended.
  bool is_up = false;
  bool is_served = false;        ///< The server has answered a request.
  bool is_past = false;          ///< The server has shown an older state than the session has seen.
  bool has_lost_writes = false;  ///< A write was not answered, or the server was left.
  condition changed;
};

}  // namespace zkrecipes::detail
