// The tracks of this process in a balance that processes share, and what they may do at the moment.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/pending_move.hpp"
#include "limit/waiting_line.hpp"

namespace zkrecipes::detail {

class shared_pace;

/// One track of a balance that processes share.
/// All of it but its name is under the lock of the pace.
class shared_track {
 public:
  shared_track(std::shared_ptr<shared_pace> whose, std::string called)
      : pace(std::move(whose)), name(std::move(called)) {}

  const std::shared_ptr<shared_pace> pace;
  const std::string name;
  std::int64_t steps = 0;
  std::list<std::shared_ptr<pending_move>> waiting{};
  bool has_left = false;
};

/// A track makes a step if this process is a member, its lease lasts, and the steps are below the limit. The limit is
/// the one that was read last: it only grows in the ensemble, so an old one is too low at worst.
///
/// The floor is what the others were told. The pacer of this process may have raised the limit by a higher one before
/// that. No track of ours is below either, now or later. So a new track begins with the steps of the slowest one, or,
/// if there is none, at the higher of the two.
///
/// From any thread. It does no I/O; the membership does, and is told by `on_progress`.
class shared_pace final : public waiting_place, public std::enable_shared_from_this<shared_pace> {
 public:
  using track_ptr = std::shared_ptr<shared_track>;
  /// Until when our node surely stands.
  using validity = std::function<lease_clock::time_point()>;

  /// `on_progress` is called from any thread, not under the lock: the first track came, the last one left, there is a
  /// floor to be told, or a move waits for the lease only.
  shared_pace(scheduler_ptr on, std::uint64_t range, std::function<void()> on_progress);

  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }

  track_ptr add(std::string name);
  void leave(shared_track& which) noexcept;
  bool try_move(shared_track& which);
  void move(const track_ptr& which, pending_move::handler whose);
  /// The move ends with `operation_aborted`, unless it was made or has ended otherwise.
  void cancel(shared_track& which, const std::shared_ptr<pending_move>& move);
  std::uint64_t steps(const shared_track& which) const;

  /// A run begins or ends: without one, moves complete with `closed`.
  void open();
  void close();

  /// We have joined while the limit was this one, and hold it: the floor is the limit less the range. Tracks below it
  /// are moved forward. One above the limit, which is possible only if the limit's node was removed and begun anew, is
  /// moved back to it.
  void admit(std::int64_t limit, validity until);
  void raise(std::int64_t limit);
  /// The membership is over: no step is made before the next one.
  void suspend();
  /// Suspends only if there is no track.
  bool suspend_if_empty();
  /// The floor that the others are to be told now, if it is higher than the one before. It counts as told.
  std::optional<std::int64_t> next_floor();
  /// What all our tracks have surely finished, told or not: the limit may be raised by it at once, because no track of
  /// ours begins below it from now on. Nothing without tracks.
  std::optional<std::int64_t> promise_floor();
  /// Makes the moves that are allowed by now, which may make a floor due. True: moves wait, and the lease has ended.
  bool refresh();
  bool has_tracks() const;
  /// The limit that is known here.
  std::int64_t limit() const;

  void show_in(shared_balance_status& status) const;
  void drop() override;

 private:
  using moves = std::list<std::shared_ptr<pending_move>>;
  using kept = std::shared_ptr<waiting_place>;

  bool may_move() const;
  bool step(shared_track& which);
  bool is_floor_due() const;
  void go_on();
  [[nodiscard]] kept end_waiting();

  const scheduler_ptr scheduler_;
  const std::int64_t range_;
  const std::int64_t granule_;
  const std::function<void()> on_progress_;

  mutable std::mutex mutex_;
  std::vector<shared_track*> tracks_;  // they leave before they are destroyed
  std::size_t waiting_ = 0;            // tracks with moves that wait
  bool is_open_ = false;
  bool is_admitted_ = false;
  validity valid_until_;
  std::int64_t limit_ = 0;
  std::int64_t floor_ = 0;     // as the others were told
  std::int64_t promised_ = 0;  // not below the floor; the pacer may have used it for the limit
  std::uint64_t joins_ = 0;
};

using shared_pace_ptr = std::shared_ptr<shared_pace>;

}  // namespace zkrecipes::detail
