#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "event_log.hpp"
#include "held_process.hpp"
#include "session_ender.hpp"

namespace guardian {

/// Ends the sessions of dead processes, a limited number of each user at a time. A session that has timed out meanwhile
/// is left alone. The account of the user is charged for what a session holds until it has ended.
class endings {
 public:
  /// `told`: that one more has ended.
  endings(session_ender how, event_log& log, std::function<void()> told)
      : how_(std::move(how)), log_(log), told_(std::move(told)) {}

  void begin(const held_process_ptr& process, std::vector<held_session> sessions);
  /// How many are under way or wait.
  std::size_t count() const noexcept { return waiting_.size() + running_; }

 private:
  using time_point = zkrecipes::lease_clock::time_point;
  struct item {
    held_process_ptr process;
    session_of_the_dead what;
    time_point deadline;
    holding charged;
  };
  void start_some();
  void start(item which);
  void tell(const held_process& process, std::int64_t session, std::size_t terms, const ending& result);

  session_ender how_;
  event_log& log_;
  std::function<void()> told_;
  std::deque<item> waiting_;
  std::size_t running_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // a result that comes later than our end is dropped
};

}  // namespace guardian
