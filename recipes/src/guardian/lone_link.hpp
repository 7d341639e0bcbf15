// One connection without the rest of a session: the caller decides everything.
#pragma once

#include <memory>
#include <vector>

#include "backend/link_listener.hpp"
#include "backend/world.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// On the strand. Each wait ends at its deadline, with `timed_out`, and with `operation_aborted` if the caller is
/// cancelled.
class lone_link final : private backend::link_listener {
 public:
  explicit lone_link(scheduler_ptr on);
  lone_link(const lone_link&) = delete;

  /// Connects. Without an error, the session that the server granted. Otherwise the reason of `link_listener::down`.
  awaitable<outcome<backend::session_key>> open(backend::link_options with, lease_clock::time_point deadline);
  /// Sends all requests at once. With an error, those that are not answered have `connection_loss`, and the link is
  /// down.
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> all,
                                                      lease_clock::time_point deadline);
  /// Asks the server to end the session, and waits for the end of the connection. `closed`: it has ended.
  awaitable<error_code> close_session(lease_clock::time_point deadline);

 private:
  void up(const backend::session_key& granted) override;
  void down(error_code reason) override;
  void fired(const backend::watch_event&) override {}
  void drop(const error_code& why);

  scheduler_ptr on_;
  condition changed_;
  backend::session_key granted_;
  bool is_up_ = false;
  error_code why_down_;
  std::unique_ptr<backend::link> link_;
};

}  // namespace zkrecipes::detail
