// Calls that are made at most once in a period for each key, also over crashes, because each of them costs money.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// The intent that a period holds for a key, as `once_per::async_claim` found or wrote it.
struct once_intent {
  /// True: this operation has written it, so the call is to be made, by its caller alone. False: it was there already,
  /// and the call was made, or is being made, or its caller has died before or after it.
  bool is_new = false;
  std::string key{};
  std::string id{};                            ///< `once_per_options::id` of the one that wrote it.
  std::string note{};                          ///< What that caller added.
  std::string guid{};                          ///< A name of this intent alone, for a service that knows repeats.
  std::chrono::system_clock::time_point at{};  ///< When it was written, by the clock of the ensemble's leader.
  std::int64_t period = 0;                     ///< The number of the period since 1970.
  std::int32_t version = 0;                    ///< The version of the node, for `once_per::async_withdraw`.
};

/// Settings of a `once_per`.
struct once_per_options {
  /// Our name, which others are told that come later in the same period. 1 to 256 bytes, no control characters.
  std::string id{};
  /// The length of a period, the same for all at the path: else `size_mismatch`. Periods follow each other without a
  /// gap from 1970-01-01 00:00 UTC on, by the clock of the ensemble's leader. 1 s to 366 days; parts of a millisecond
  /// are cut off.
  time_span<std::chrono::milliseconds> per{std::chrono::hours(24)};
  /// For how long the intents of a period are kept when it is over. It has to be longer than clocks of servers can
  /// differ: if another server with a slower clock becomes the leader, an earlier period can come again. 0 to 366 days.
  time_span<std::chrono::milliseconds> keep{std::chrono::hours(1)};
};

namespace detail {
class once_state;
}

/// At most one caller in each period is told to make the call of a key, whichever process it is in, and whatever
/// crashes. The intent is written to the servers before the call: a caller that dies behind that has used the period up
/// for the key, whether it has made the call or not. Copies share one object.
///
/// Thread safety: safe. Cancellation: all types; what was already sent may be executed. Errors of every operation:
/// `foreign_data` (the path, or the node of the key, holds data of something else, which is left as it is),
/// `size_mismatch` (the others at the path have periods of another length), `busy` (others have changed the node, or
/// the clocks of the leaders have moved, 100 times meanwhile), `no_auth`, `invalid_acl`, `no_children_for_ephemerals`,
/// and those of `session`.
class once_per {
 public:
  using executor_type = boost::asio::any_io_executor;

  once_per() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  once_per(session over, std::string path, once_per_options options);

  /// Writes the intent to make the call of this key in the present period, unless there is one. Only if the result is
  /// new is the call to be made. `key` has 1 to 1 000 bytes. `note` is shown to those that come later, and has 1 000
  /// bytes at most.
  ///
  /// Signature: `void(error_code, once_intent)`.
  /// Errors: `bad_arguments` (the key or the note has another length), `connection_loss` (the intent may have been
  /// written: a further claim then finds it, with our id), and those of the class. After any error the call is not to
  /// be made.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests, of which 1 is a write. 1 round trip more for the first claim of an object, which
  /// learns the time, and for the first one in a period; 1 or 2 more where the servers' clock moves into the next
  /// period meanwhile, and where the intent before was withdrawn.
  template <token_for<once_intent> Token = default_token>
  auto async_claim(std::string key, std::string note, Token&& token = Token()) {
    return detail::initiate<void(error_code, once_intent)>(token, &start_claim, state_, std::move(key),
                                                           std::move(note));
  }

  /// Takes an intent back that was new, because the call was surely not made, or surely cost nothing: another claim in
  /// the same period is new again. It is no error if the intent was taken back, or removed with its period, before.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (it is not ours, because it was not new), and those of the class. After an error it may
  /// have been taken back.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests, of which 1 is a write.
  template <token_for<> Token = default_token>
  auto async_withdraw(once_intent what, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_withdraw, state_, std::move(what));
  }

  /// Removes the periods that have been over for `once_per_options::keep`, and completes with the number of nodes that
  /// were removed, also on failure. Claims do it by themselves, in the background: the first one of an object, and then
  /// one about every hour.
  ///
  /// Signature: `void(error_code, std::size_t)`.
  /// Errors: those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip; for each period that is over 3, and 1 more for each 100 intents in it.
  template <token_for<std::size_t> Token = default_token>
  auto async_clean(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::size_t)>(token, &start_clean, state_);
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const once_per_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::once_state>;
  static void start_claim(detail::handler_for<void(error_code, once_intent)>, state_ptr, std::string, std::string);
  static void start_withdraw(detail::handler_for<void(error_code)>, state_ptr, once_intent);
  static void start_clean(detail::handler_for<void(error_code, std::size_t)>, state_ptr);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes
