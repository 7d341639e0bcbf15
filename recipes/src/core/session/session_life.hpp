// How far the life of a session has come: its state, its incarnation, its end. `core` takes its decisions; its parts
// see here what has been decided.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "session/condition.hpp"
#include "session/session_facts.hpp"
#include "session/session_log.hpp"

namespace zkrecipes::detail {

class session_life : public session_facts, public std::enable_shared_from_this<session_life> {
 public:
  session_life(scheduler_ptr on, session_options options);

  // From any thread.
  const asio::any_io_executor& strand() const noexcept { return scheduler_->strand; }
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  const session_options& options() const noexcept { return options_; }

  // On the strand.
  lease_clock::time_point now() const { return scheduler_->now(); }
  error_code ended() const noexcept { return ended_; }  ///< `closed` or `auth_failed`, once it is over for good.
  /// Like `ended`, but `closed` already from the moment when the close was requested.
  error_code over() const noexcept { return closing_ && !ended_ ? make_error_code(errc::closed) : ended_; }
  bool closing() const noexcept { return closing_; }
  condition& changed() noexcept { return changed_; }  ///< The status changed.
  incarnation_ptr current() const noexcept { return incarnation_; }
  session_log& log() noexcept { return log_; }

  /// Like everything that draws random numbers from the world.
  std::string make_guid() const;

  void enter(session_state state, const error_code& reason, std::string server = {});

 protected:
  ~session_life() = default;
  std::vector<credentials> take_digest();
  void begin_incarnation() { incarnation_ = std::make_shared<incarnation>(); }
  /// False: it was over before, or there is none.
  bool end_incarnation(const error_code& reason);
  void forget_incarnation() noexcept { incarnation_.reset(); }
  /// False: that was done before.
  bool begin_close() noexcept { return !std::exchange(closing_, true); }
  void end_life(const error_code& reason) noexcept { ended_ = reason; }

 private:
  scheduler_ptr scheduler_;
  session_options options_;
  session_log log_;
  bool closing_ = false;
  error_code ended_;
  incarnation_ptr incarnation_;
  condition changed_;
};

}  // namespace zkrecipes::detail
