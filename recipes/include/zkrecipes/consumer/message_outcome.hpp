// The outcome of `process` for one message.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

/// The result of `queue_consumer::process`. A plain transaction converts to `done`.
/// Thread safety: distinct objects safe, shared objects unsafe.
class message_outcome {
 public:
  enum class kind {
    done,      ///< The message is acknowledged, and its effects happen.
    again,     ///< The attempt has failed: the message is processed again later, or parked after the last attempt.
    hold_off,  ///< Nothing is wrong with the message: the whole consumer pauses, and no attempt counts.
    park,      ///< The message will never be done: it becomes a dead letter now.
  };

  message_outcome() = default;  ///< As `done()`.
  /// As `done(effects)`.
  message_outcome(transaction effects) : effects_(std::move(effects)) {}  // NOLINT(google-explicit-constructor)

  /// The effects, the removal of the message and the check that no newer term has begun are one transaction.
  static message_outcome done(transaction effects = {}) { return message_outcome(std::move(effects)); }
  /// Waits before the next attempt as `message_retry` says.
  static message_outcome again(std::string reason) { return {kind::again, std::nullopt, std::move(reason)}; }
  /// Waits this long instead, 0 or more.
  static message_outcome again(std::chrono::milliseconds after, std::string reason) {
    return {kind::again, after, std::move(reason)};
  }
  /// For a service that says when to come back (`Retry-After`): no message is begun for this long.
  static message_outcome hold_off(std::chrono::milliseconds length, std::string reason) {
    return {kind::hold_off, length, std::move(reason)};
  }
  /// `reason`: its first 1 000 bytes are kept in the dead letter.
  static message_outcome park(std::string reason) { return {kind::park, std::nullopt, std::move(reason)}; }

  kind what() const noexcept { return what_; }
  const transaction& effects() const noexcept { return effects_; }
  const std::string& reason() const noexcept { return reason_; }
  std::optional<std::chrono::milliseconds> after() const noexcept { return after_; }

 private:
  message_outcome(kind what, std::optional<std::chrono::milliseconds> after, std::string reason)
      : what_(what), after_(after), reason_(std::move(reason)) {}

  kind what_ = kind::done;
  transaction effects_;
  std::optional<std::chrono::milliseconds> after_;
  std::string reason_;
};

}  // namespace zkrecipes
