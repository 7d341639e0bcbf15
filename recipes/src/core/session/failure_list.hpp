#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/session.hpp>

#include "backend/resolved_name.hpp"

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

}  // namespace zkrecipes::detail
