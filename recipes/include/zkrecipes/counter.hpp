// A number that many count up and down.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class counter_state;
}

struct counter_options {
  /// How often an addition that meets others' is tried before it gives up with `busy`; 1 to 1 000 000.
  int most_tries = 1'000;
};

struct counter_reading {
  std::int64_t value = 0;
  zkrecipes::stat stat;  ///< Of its node; `stat{}` while that is missing: the value is 0.
};

/// A number of 64 bits at one path, as decimal text: kazoo's Counter (with integers) can share it.
///
/// An addition reads, and writes on condition that nobody else wrote in between; else it tries again after a pause that
/// grows and differs at random. Additions of one object take turns. The node must not be deleted while it is in use.
///
/// Thread safety: safe. Cancellation: all types; a write that was already sent may take effect. Errors of every
/// operation: `foreign_data` (the node holds no such number), `no_auth`, and those of `session`.
class counter {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  counter(session over, std::string path, counter_options options);
  counter(session over, std::string path) : counter(std::move(over), std::move(path), counter_options()) {}

  /// It may be a little behind what others have just written.
  template <class Token>
  auto async_get(Token&& token) {
    return detail::initiate<void(error_code, counter_reading)>(token, &start_get, state_);
  }

  /// Adds, once; completes with the sum. Two round trips if nobody else writes.
  /// Errors: `outcome_unknown` (the reply was lost, and what is there now does not tell whether it was added),
  /// `busy` (`most_tries`; not added), `bad_arguments` (the sum does not fit; not added), `node_removed` (the node was
  /// deleted and made again meanwhile: it has our sum now, reckoned from the old number).
  template <class Token>
  auto async_add(std::int64_t delta, Token&& token) {
    return detail::initiate<void(error_code, std::int64_t)>(token, &start_add, state_, delta);
  }

  /// Sets it if it is still what was read. Errors: as `shared_value::async_compare_and_set`.
  template <class Token>
  auto async_compare_and_set(const counter_reading& seen, std::int64_t value, Token&& token) {
    return detail::initiate<void(error_code, counter_reading)>(token, &start_compare_and_set, state_, seen, value);
  }

  /// Completes when it was written since it was read, or made. Numbers in between may be skipped.
  /// Error: `no_node` if it was deleted.
  template <class Token>
  auto async_change(const counter_reading& seen, Token&& token) {
    return detail::initiate<void(error_code, counter_reading)>(token, &start_change, state_, seen);
  }

  const std::string& path() const noexcept;

 private:
  using state_ptr = std::shared_ptr<detail::counter_state>;
  static void start_get(detail::handler_for<void(error_code, counter_reading)>, state_ptr);
  static void start_add(detail::handler_for<void(error_code, std::int64_t)>, state_ptr, std::int64_t);
  static void start_compare_and_set(detail::handler_for<void(error_code, counter_reading)>, state_ptr, counter_reading,
                                    std::int64_t);
  static void start_change(detail::handler_for<void(error_code, counter_reading)>, state_ptr, counter_reading);

  state_ptr state_;
};

}  // namespace zkrecipes
