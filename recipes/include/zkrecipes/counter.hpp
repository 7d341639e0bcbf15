// A number that many clients add to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class counter_state;
}

/// Settings of a `counter`.
struct counter_options {
  /// How often an addition that meets the writes of others is tried before it gives up with `busy`. 1 to 1 000 000.
  int max_tries = 1'000;
};

/// A number that was read, and what identifies this state of the node.
struct counter_reading {
  std::int64_t value = 0;
  node_stat stat;  ///< The stat of the node; `node_stat{}` while the node is missing: then the value is 0.
};

/// A number of 64 bits at one path, as decimal text: kazoo's Counter (with integers) can share it.
///
/// An addition reads the number, and writes the sum on condition that no other client wrote in between. If one did, the
/// addition tries again after a pause that grows and differs at random. Additions of one session take turns. The node
/// must not be deleted while it is in use.
///
/// Thread safety: safe. Cancellation: all types; a write that was already sent may take effect. Errors of every
/// operation: `no_auth` and those of `session`; of those that read the number also `foreign_data` (the node holds no
/// such number).
class counter {
 public:
  using executor_type = boost::asio::any_io_executor;

  counter() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  counter(session over, std::string path, counter_options options);
  counter(session over, std::string path) : counter(std::move(over), std::move(path), counter_options()) {}

  /// Reads the number. It may be a little behind what others have just written.
  ///
  /// Signature: `void(error_code, counter_reading)`.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<counter_reading> Token = default_token>
  auto async_get(Token&& token = Token()) {
    return detail::initiate<void(error_code, counter_reading)>(token, &start_get, state_);
  }

  /// Adds `delta`, once, and completes with the sum.
  ///
  /// Signature: `void(error_code, std::int64_t)`.
  /// Errors: `outcome_unknown` (the reply was lost, and what is there now does not tell whether it was added), `busy`
  /// (tried `max_tries` times; not added), `bad_arguments` (the sum does not fit; not added), `node_removed` (the node
  /// was deleted and made again meanwhile: it has our sum now, computed from the old number), `foreign_data`,
  /// `no_auth`, and those of `session`. After any error but `outcome_unknown`, `node_removed`, `closed` and
  /// `operation_aborted` nothing was added.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says; additions of one session take turns, too.
  /// Cost: 2 round trips, 2 requests if no other client writes; each try that meets another write 2 more. Where several
  /// add at the same time, each round of tries lets one of them through. If the parents of the node have to be made 2
  /// more; after a lost reply 1 or 2 more.
  template <token_for<std::int64_t> Token = default_token>
  auto async_add(std::int64_t delta, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::int64_t)>(token, &start_add, state_, delta);
  }

  /// Sets the number if the node is still what was read; makes the node if it was missing.
  ///
  /// Signature: `void(error_code, counter_reading)`.
  /// Errors: as `shared_value::async_compare_and_set`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: as `shared_value::async_compare_and_set`.
  template <token_for<counter_reading> Token = default_token>
  auto async_compare_and_set(const counter_reading& seen, std::int64_t value, Token&& token = Token()) {
    return detail::initiate<void(error_code, counter_reading)>(token, &start_compare_and_set, state_, seen, value);
  }

  /// Completes with the present number when the node was written since it was read, or made. Numbers in between may be
  /// skipped.
  ///
  /// Signature: `void(error_code, counter_reading)`.
  /// Errors: `no_node` (the node was deleted), `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: as `shared_value::async_change`.
  template <token_for<counter_reading> Token = default_token>
  auto async_change(const counter_reading& seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, counter_reading)>(token, &start_change, state_, seen);
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const counter_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::counter_state>;
  static void start_get(detail::handler_for<void(error_code, counter_reading)>, state_ptr);
  static void start_add(detail::handler_for<void(error_code, std::int64_t)>, state_ptr, std::int64_t);
  static void start_compare_and_set(detail::handler_for<void(error_code, counter_reading)>, state_ptr, counter_reading,
                                    std::int64_t);
  static void start_change(detail::handler_for<void(error_code, counter_reading)>, state_ptr, counter_reading);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes
