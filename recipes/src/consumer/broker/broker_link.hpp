// One connection to a broker.
#pragma once

#include <string>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "backend/endpoint.hpp"

namespace zkrecipes::detail {

/// It connects to one numeric address, and ends once. On the strand.
class broker_link {
 public:
  broker_link() = default;
  virtual ~broker_link() = default;
  broker_link(const broker_link&) = delete;
  broker_link& operator=(const broker_link&) = delete;

  virtual void connect(const backend::endpoint& broker) = 0;
  virtual bool is_up() const noexcept = 0;
  virtual bool is_over() const noexcept = 0;
  /// Why it has ended, in words.
  virtual const std::string& reason() const noexcept = 0;
  /// Why it has ended.
  virtual error_code why() const noexcept = 0;
  /// When a part of an answer has come last. Heartbeats are none. A link that sends a large request in parts counts
  /// these, too, as the system takes them.
  virtual lease_clock::time_point last_passed() const noexcept = 0;
  /// Ends the connection. Nothing is called after this.
  virtual void abandon() = 0;
};

}  // namespace zkrecipes::detail
