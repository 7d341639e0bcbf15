// What one user has open at the guardian, and the limits of that.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <sys/types.h>

#include "background_closer.hpp"
#include "descriptor.hpp"

namespace guardian {

/// How much of the guardian one user may take. What goes beyond is refused; other users do not notice.
struct limits {
  std::size_t connections = 256;
  std::size_t sessions = 1'000;
  std::size_t terms = 50'000;
  std::size_t bytes = 64u << 20;  ///< The size of everything that is held for the user's processes.
  std::size_t endings = 16;       ///< Sessions that are ended at the same time.
  std::size_t closing = 256;      ///< Descriptors of theirs that are still being closed.
  /// Messages of one connection: so many at once, and so many in each second later. Further ones wait in its socket.
  std::size_t burst = 60'000;
  std::size_t rate = 2'000;
  /// All users together may have so many times the connections, sessions, terms and bytes of one: somebody may have a
  /// crowd of user ids.
  std::size_t users = 16;
  std::chrono::milliseconds hello{10'000};  ///< A connection that has said nothing yet is closed after so long.
};

/// The amount that is held for a process.
struct holding {
  std::size_t sessions = 0;
  std::size_t terms = 0;
  std::size_t bytes = 0;
};

/// What one user takes of the guardian, against the limits, or all users together.
class user_account {
 public:
  /// `all`: the account of all users. Null: this is it.
  user_account(uid_t user, const limits& most, std::shared_ptr<user_account> all = {})
      : user_(user), most_(most), all_(std::move(all)) {}

  uid_t user() const noexcept { return user_; }
  const limits& most() const noexcept { return most_; }
  const holding& held() const noexcept { return held_; }

  /// Where descriptors that came from the user are closed.
  closing_lane lane() const noexcept { return closing_lane::of(user_); }
  /// So many are still being closed that no further ones may be taken.
  bool is_clogged() const { return background_closer::of_process().pending(user_) >= most_.closing; }

  /// Nothing is taken if a limit does not allow it; the text then says which.
  std::string take_connection();
  void return_connection();
  bool take_ending() { return endings_ < most_.endings && ++endings_; }
  void return_ending() { --endings_; }

  std::string take(const holding& more);  ///< As `take_connection`.
  void give_back(const holding& less);

  bool is_idle() const { return connections_ + endings_ + held_.sessions + held_.terms + held_.bytes == 0; }

 private:
  std::string too_many(const char* what) const;

  uid_t user_;
  limits most_;
  std::shared_ptr<user_account> all_;
  std::size_t connections_ = 0;
  std::size_t endings_ = 0;
  holding held_;
};

}  // namespace guardian
