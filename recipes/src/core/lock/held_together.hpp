// The locks that a multi-lock has acquired.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/lock.hpp>
#include <zkrecipes/ownership.hpp>

#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/interruption.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Some locks, in the order of their acquisition. They are released in the reverse order.
class held_together : public std::enable_shared_from_this<held_together> {
 public:
  explicit held_together(core_ptr session);
  ~held_together();

  using acquire_one = awaitable<outcome<ownership>> (*)(core_ptr, std::string, line_options);

  /// Acquires one more lock. Gives up if one of the locks that are held already is lost meanwhile.
  awaitable<error_code> acquire(acquire_one how, std::string path, line_options options);

  /// Releases in the background, also while somebody still waits for a loss. To be called once the public object, which
  /// looks at the ownerships from any thread, has gone.
  void let_go_later();

  const std::vector<ownership>& all() const noexcept { return all_; }
  const core_ptr& session() const noexcept { return session_; }
  error_code error() const noexcept;
  awaitable<outcome<>> wait_lost();
  awaitable<outcome<>> wait_revoked();
  awaitable<outcome<>> release();

 private:
  void add(ownership one);
  void note_lost();
  void note_revoked();

  core_ptr session_;
  std::vector<ownership> all_;
  std::weak_ptr<interruption> loss_;  // interrupts the present acquisition when a held lock is lost
  bool revoked_ = false;              // somebody has asked for one of the locks
  bool releasing_ = false;            // `release` gives all of them up
  condition changed_;
};

}  // namespace zkrecipes::detail
