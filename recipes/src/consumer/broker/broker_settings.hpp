// The settings that all brokers have in common, and how they are checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/session_options.hpp>
#include <zkrecipes/tls_options.hpp>

#include "broker/broker_connection.hpp"

namespace zkrecipes::detail {

/// The exceptions are `std::invalid_argument`, and name the fields of one type of options.
class broker_settings {
 public:
  /// `owner`: "redis_options" or "rabbit_options".
  explicit broker_settings(std::string owner) : owner_(std::move(owner)) {}

  [[noreturn]] void refuse(const std::string& field, const std::string& why) const;
  void require(bool is_good, const std::string& field, const std::string& why) const;
  /// Neither has a NUL byte, and a user has a password.
  void require_login(const std::string& user, const std::string& password) const;
  /// The time for an answer (10 ms to 1 h), and the pauses between tries.
  void require_times(std::chrono::milliseconds timeout, const retry_policy& retry) const;
  /// "host:port[,host:port...]"; brokers without a port have this one.
  std::vector<backend::endpoint> parse_brokers(const std::string& hosts, std::uint16_t port) const;
  /// Null: plain text.
  std::shared_ptr<backend::tls_context> load_certificates(const std::optional<tls_options>& tls) const;

  /// What connections need, but for the session and the errors.
  template <class Options>
  broker_frame frame_of(const Options& options, std::string kind, std::uint16_t port) const {
    broker_frame frame;
    frame.kind = std::move(kind);
    frame.brokers = parse_brokers(options.hosts, port);
    frame.tls = load_certificates(options.tls);
    frame.timeout = options.timeout;
    frame.retry = options.retry;
    return frame;
  }

 private:
  std::string owner_;
};

}  // namespace zkrecipes::detail
