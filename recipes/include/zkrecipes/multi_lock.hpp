// Several locks at once, or none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/lock.hpp>

namespace zkrecipes {

namespace detail {
class held_together;
}

/// Locks that were acquired together. It ends once: released, or when the first of them is lost; the others stay held
/// until it is released.
///
/// Move-only; the destructor releases in the background, the last acquired first. Thread safety: safe.
class multi_ownership {
 public:
  multi_ownership() noexcept;  ///< Owns nothing: `error()` is `closed`.
  explicit multi_ownership(std::shared_ptr<detail::held_together> held) noexcept;
  multi_ownership(multi_ownership&&) noexcept;
  multi_ownership& operator=(multi_ownership&&) noexcept;
  ~multi_ownership();

  std::size_t size() const noexcept;
  /// In the order of acquisition, which is that of the paths. \throws std::out_of_range
  const ownership& at(std::size_t index) const;

  /// No error while all of them are held, as far as we know.
  error_code error() const noexcept;
  /// Until when all of them are ours even if nothing were heard from the servers any more.
  lease_clock::time_point valid_until() const;
  /// The transaction, made to fail with `no_node` unless we still own all of them when the servers execute it; with
  /// `bad_arguments`, unsent, if nothing was ever owned here.
  transaction fenced(transaction operations) const;

  /// Completes when the first of them has ended, with the reason: see `ownership::async_lost`.
  template <class Token>
  auto async_lost(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_lost, held_);
  }

  /// Completes when somebody asks us to give up any of them (`revoked`), or the first of them has ended (as `async_lost`).
  /// See `ownership::async_revoked`.
  template <class Token>
  auto async_revoked(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_revoked, held_);
  }

  /// Gives all of them up, one after the other, the last acquired first. Otherwise as `ownership::async_release`, with the
  /// first error.
  template <class Token>
  auto async_release(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_release, held_);
  }

 private:
  using held_ptr = std::shared_ptr<detail::held_together>;
  static void start_lost(detail::handler_for<void(error_code)>, held_ptr);
  static void start_revoked(detail::handler_for<void(error_code)>, held_ptr);
  static void start_release(detail::handler_for<void(error_code)>, held_ptr);

  held_ptr held_;
};

/// The locks at several paths, each shared with users of `lock` at that path.
///
/// Acquired one after the other in the order of their paths, whatever the order they are given in: two that want some of
/// the same locks can not wait for each other (Havender's ordering, 1968).
///
/// Thread safety: safe. Cancellation of every operation: all types; no node of ours stays behind (it is removed in the
/// background for as long as the session lives).
class multi_lock {
 public:
  /// \throws std::invalid_argument naming the bad path or option; if there is no path, or one twice.
  multi_lock(session over, std::vector<std::string> paths, lock_options options);
  multi_lock(session over, std::vector<std::string> paths)
      : multi_lock(std::move(over), std::move(paths), lock_options()) {}

  /// Waits for all: one round trip for each that is free. Signature: void(error_code, multi_ownership).
  /// Errors: those of `lock::async_acquire`, and of `ownership::async_lost` if one is lost while we wait for another: at once,
  /// and the rest is given up.
  template <class Token>
  auto async_acquire(Token&& token) {
    return async_acquire_for(lease_clock::duration::max(), std::forward<Token>(token));
  }
  /// The same within one budget of time for all. Error: `timed_out`.
  template <class Token>
  auto async_acquire_for(time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, multi_ownership)>(token, &start_acquire, session_.get_core(), paths_,
                                                               options_, budget);
  }
  /// Takes all if all are free. Error: `busy`.
  template <class Token>
  auto async_try_acquire(Token&& token) {
    return detail::initiate<void(error_code, multi_ownership)>(token, &start_try_acquire, session_.get_core(), paths_,
                                                               options_);
  }

  const std::vector<std::string>& paths() const noexcept { return paths_; }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  using handler = detail::handler_for<void(error_code, multi_ownership)>;
  static void start_acquire(handler, core_ptr, std::vector<std::string>, lock_options, lease_clock::duration);
  static void start_try_acquire(handler, core_ptr, std::vector<std::string>, lock_options);

  session session_;
  std::vector<std::string> paths_;
  lock_options options_;
};

}  // namespace zkrecipes
