// What a session knows of its servers: their addresses, which it looks up by their names, and the last failure of each.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/session.hpp>

#include "backend/endpoint.hpp"
#include "session/server_list.hpp"
#include "session/session_life.hpp"

namespace zkrecipes::detail {

/// The reason behind the error with which an attempt to connect has ended.
failure_reason reason_of(const error_code& error) noexcept;

/// The last failure of each server.
class failure_list {
 public:
  using clock = std::chrono::system_clock;

  const connection_failure& record(std::string server, failure_reason reason, const error_code& error,
                                   clock::time_point when);
  /// The server has answered.
  void forget(std::string_view server);
  /// Forgets addresses that are not among these, and names that have an address now. Addresses can change with every
  /// look-up, so the list would grow without this.
  void keep_only(const std::vector<backend::resolved_name>& names, const std::vector<backend::endpoint>& servers);

  const std::vector<connection_failure>& all() const noexcept { return all_; }

 private:
  std::vector<connection_failure> all_;
};

class known_servers {
 public:
  /// `changed` is notified when a name was looked up.
  known_servers(session_life& whose, condition& changed, std::vector<backend::endpoint> names);

  const std::vector<backend::endpoint>& names() const noexcept { return names_; }
  server_list& list() noexcept { return servers_; }
  const server_list& list() const noexcept { return servers_; }

  /// Begins to look all names up, each by itself, and waits until that is done; if servers are known, for `first_pause`
  /// only, because a slow resolver must cost neither the session nor the first connection.
  awaitable<void> look_up();
  void on_failure(const backend::endpoint& server, const error_code& error);
  /// The server has answered a request.
  void on_service(const backend::endpoint& server);

 private:
  struct sought_name {
    bool is_sought = false;  // a lookup is under way
    backend::resolved_name last;
  };

  void on_addresses(std::size_t which, backend::resolved_name answer);

  session_life& life_;
  condition& changed_;
  std::vector<backend::endpoint> names_;
  std::vector<sought_name> found_;  // of each
  server_list servers_;
  failure_list failures_;
};

}  // namespace zkrecipes::detail
