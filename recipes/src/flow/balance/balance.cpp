#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/flow/balance.hpp>

#include "balance/pending_move.hpp"
#include "limit/waiting_line.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

class balance_core;

/// One track: its steps, and the moves that wait.
/// The steps have one writer at a time: the owner (the thread that calls the moves of this track), or, while a move
/// waits, the thread that grants it, under the lock of the core. The owner can tell which. While a move waits,
/// `unchecked_` is not above the steps, so the owner asks the core; it raises `unchecked_` only when the core says,
/// under its lock, that no move waits. So most moves are two loads, a comparison and a store, on a cache line that
/// other threads read now and then, and do not write.
///
/// Memory order:
/// - A step is stored with `release`, and a limit is computed from steps that were loaded with at least `acquire`. So a
///   limit rests on published steps only, and all that a slow worker did before a step is visible to a fast one whose
///   move that step allowed.
/// - Steps only grow, so a limit never falls, and an old copy of it is too low at worst. A thread that reads the steps
///   of a track and after that those of another, and finds the first ahead by more than the range, has found a bug; the
///   other way round the second may have moved in between.
/// - The step that ends a granule and the core's count of waiting tracks are `seq_cst`. The owner stores that step, and
///   then loads the count. A track that begins to wait raises the count, and then loads the steps. In the one order of
///   these four, one of the two sees the other: the owner wakes the waiting track, or that track sees the step.
/// - All else that threads share is under the lock of the core.
class track_state : public std::enable_shared_from_this<track_state> {
 public:
  /// To be made under the lock of the core.
  track_state(std::shared_ptr<balance_core> core, std::string name, std::int64_t steps);
  track_state(const track_state&) = delete;
  track_state& operator=(const track_state&) = delete;

  /// By the owner. False: the limit does not allow a step, a move waits, or the track has left.
  bool try_move() {
    const auto steps = steps_.load(std::memory_order_relaxed);
    if (steps >= unchecked_.load(std::memory_order_relaxed)) [[unlikely]]
      return move_checked();
    steps_.store(steps + 1, std::memory_order_release);
    return true;
  }
  /// By the owner.
  void move(pending_move::handler whose);

  const std::string& name() const noexcept { return name_; }
  balance_core& core() const noexcept { return *core_; }
  std::int64_t steps() const noexcept { return steps_.load(std::memory_order_seq_cst); }

 private:
  friend class balance_core;
  using moves = std::list<std::shared_ptr<pending_move>>;

  static constexpr std::size_t cache_line = 64;
  static constexpr std::int64_t nothing = -1;  // below any number of steps

  bool move_checked();
  void make_step(std::int64_t number);
  void listen(const std::shared_ptr<pending_move>& waiting);
  std::int64_t end_of_unchecked(std::int64_t steps) const noexcept;

  alignas(cache_line) std::atomic<std::int64_t> steps_;
  std::int64_t limit_;                   // the owner's copy
  std::atomic<std::int64_t> unchecked_;  // below so many steps a move looks at nothing else; `nothing` after `leave`

  // Under the lock of the core. Others write it, so it begins a cache line.
  alignas(cache_line) moves waiting_;
  bool has_left_ = false;
  std::size_t place_ = 0;  // in the core's list

  std::shared_ptr<balance_core> core_;
  std::string name_;
};

/// The tracks of a balance and their limit.
/// The limit is the steps of the slowest track and the range. It is computed anew by a track that has used up its copy
/// of the limit, and, while others wait, by each track that passes a granule of its steps, a quarter of the range. So a
/// track that waits is at least (range - granule + 1) ahead of the slowest, and is never the slowest. `track_state`
/// tells which thread may write what, and in which memory order.
class balance_core final : public waiting_place, public std::enable_shared_from_this<balance_core> {
 public:
  balance_core(asio::any_io_executor executor, const balance_options& options);
  balance_core(const balance_core&) = delete;
  balance_core& operator=(const balance_core&) = delete;

  const asio::any_io_executor& executor() const noexcept { return executor_; }
  const balance_options& options() const noexcept { return options_; }

  std::shared_ptr<track_state> join(std::string name);
  void leave(track_state& whose) noexcept;
  balance_status status();

  /// The present limit. Nothing: the track has left, or a move of it waits.
  std::optional<std::int64_t> limit_for(const track_state& whose);
  bool ends_granule(std::int64_t steps) const noexcept { return steps % granule_ == 0; }
  std::int64_t end_of_granule(std::int64_t steps) const noexcept { return (steps / granule_ + 1) * granule_; }
  /// To be called behind the step that ends a granule.
  void passed_granule();
  /// Completes the move when its step is made.
  void wait(track_state& whose, std::shared_ptr<pending_move> move);
  void cancel(track_state& whose, const std::shared_ptr<pending_move>& move);
  void drop() override;

  /// Under the lock.
  std::int64_t limit() const noexcept { return slowest_ + range_; }

 private:
  using moves = std::list<std::shared_ptr<pending_move>>;

  void look();
  bool grant(moves& granted);
  moves advance();
  void begin_waiting();
  void end_waiting();

  asio::any_io_executor executor_;
  balance_options options_;
  std::int64_t range_;
  std::int64_t granule_;
  std::atomic<std::size_t> waiting_ = 0;  // tracks with moves that wait; written under the lock

  std::mutex mutex_;
  std::vector<track_state*> tracks_;  // they leave before they are destroyed
  std::int64_t slowest_ = 0;  // its steps when they were looked at; without tracks those of the last one when it left
  std::int64_t spread_ = 0;
  std::int64_t largest_spread_ = 0;
};

track_state::track_state(std::shared_ptr<balance_core> core, std::string name, std::int64_t steps)
    : steps_(steps), limit_(core->limit()), unchecked_(nothing), core_(std::move(core)), name_(std::move(name)) {
  unchecked_.store(end_of_unchecked(steps), std::memory_order_relaxed);
}

void track_state::move(pending_move::handler whose) {
  auto made = std::make_shared<pending_move>(core_->executor(), std::move(whose));
  if (try_move()) return made->complete(error_code());
  listen(made);
  core_->wait(*this, std::move(made));
}

/// To be called before the move can complete, because the handler may destroy what the slot belongs to. The slot may
/// outlive the move.
void track_state::listen(const std::shared_ptr<pending_move>& waiting) {
  auto slot = waiting->slot();
  if (!slot.is_connected()) return;
  slot.assign([self = weak_from_this(), which = std::weak_ptr(waiting)](asio::cancellation_type type) {
    const auto track = self.lock();
    const auto move = which.lock();
    if (track && move && type != asio::cancellation_type::none) track->core_->cancel(*track, move);
  });
}

bool track_state::move_checked() {
  auto known = unchecked_.load(std::memory_order_relaxed);
  if (known == nothing) return false;
  if (steps_.load(std::memory_order_relaxed) >= limit_) {
    const auto limit = core_->limit_for(*this);
    if (!limit) return false;
    limit_ = *limit;
  }
  const auto steps = steps_.load(std::memory_order_relaxed);  // again: a move that waited may have been granted
  if (steps >= limit_) return false;
  make_step(steps + 1);
  // The only other writer is `leave`, which any thread may call meanwhile. It must have the last word.
  unchecked_.compare_exchange_strong(known, end_of_unchecked(steps + 1), std::memory_order_relaxed);
  return true;
}

void track_state::make_step(std::int64_t number) {
  if (!core_->ends_granule(number)) return steps_.store(number, std::memory_order_release);
  steps_.store(number, std::memory_order_seq_cst);
  core_->passed_granule();
}

/// The last step of a granule is made with a look at the others, so it is not among those that need none.
std::int64_t track_state::end_of_unchecked(std::int64_t steps) const noexcept {
  return std::min(limit_, core_->end_of_granule(steps) - 1);
}

balance_core::balance_core(asio::any_io_executor executor, const balance_options& options)
    : executor_(std::move(executor)),
      options_(options),
      range_(static_cast<std::int64_t>(options.range)),
      granule_(std::max<std::int64_t>(1, range_ / 4)) {}

/// The new track begins with the steps of the slowest at this moment. So it lowers no limit, and no track is ahead of
/// it by more than the range.
std::shared_ptr<track_state> balance_core::join(std::string name) {
  moves granted;
  std::shared_ptr<track_state> made;
  {
    const std::lock_guard lock(mutex_);
    if (tracks_.size() == most_tracks) throw std::length_error("balance: there are 10000 tracks");
    granted = advance();
    made = std::make_shared<track_state>(shared_from_this(), std::move(name), slowest_);
    made->place_ = tracks_.size();
    tracks_.push_back(made.get());
  }
  complete_all(granted, error_code());
  return made;
}

void balance_core::leave(track_state& whose) noexcept {
  moves ended;
  moves granted;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(whose.has_left_, true)) return;
    whose.unchecked_.store(track_state::nothing, std::memory_order_relaxed);
    if (tracks_.size() == 1) look();  // the next track begins where the last one was
    tracks_.back()->place_ = whose.place_;
    tracks_[whose.place_] = tracks_.back();
    tracks_.pop_back();
    if (!whose.waiting_.empty()) end_waiting();
    for (const auto& each : whose.waiting_) each->waits_ = false;
    ended.swap(whose.waiting_);
    granted = advance();
  }
  complete_all(ended, errc::closed);
  complete_all(granted, error_code());
}

balance_status balance_core::status() {
  moves granted;
  balance_status seen;
  {
    const std::lock_guard lock(mutex_);
    granted = advance();
    seen.range = options_.range;
    seen.limit = static_cast<std::uint64_t>(limit());
    seen.spread = static_cast<std::uint64_t>(spread_);
    seen.largest_spread = static_cast<std::uint64_t>(largest_spread_);
    for (const auto* each : tracks_) {
      seen.tracks.push_back({each->name(), static_cast<std::uint64_t>(each->steps()), !each->waiting_.empty()});
    }
  }
  complete_all(granted, error_code());
  return seen;
}

std::optional<std::int64_t> balance_core::limit_for(const track_state& whose) {
  moves granted;
  std::int64_t found = 0;
  {
    const std::lock_guard lock(mutex_);
    if (whose.has_left_ || !whose.waiting_.empty()) return std::nullopt;
    granted = advance();
    found = limit();
  }
  complete_all(granted, error_code());
  return found;
}

void balance_core::passed_granule() {
  if (waiting_.load(std::memory_order_seq_cst) == 0) return;  // a track that begins to wait now sees the step
  moves granted;
  {
    const std::lock_guard lock(mutex_);
    granted = advance();
  }
  complete_all(granted, error_code());
}

void balance_core::wait(track_state& whose, std::shared_ptr<pending_move> move) {
  moves granted;
  moves refused;
  {
    const std::lock_guard lock(mutex_);
    auto& into = whose.has_left_ ? refused : whose.waiting_;
    auto& one = *move;
    one.place_ = into.insert(into.end(), std::move(move));
    one.waits_ = !whose.has_left_;
    if (one.waits_) {
      if (whose.waiting_.size() == 1) begin_waiting();
      granted = advance();  // behind the count, so that no step is missed
    }
  }
  complete_all(refused, errc::closed);
  complete_all(granted, error_code());
}

void balance_core::cancel(track_state& whose, const std::shared_ptr<pending_move>& move) {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(move->waits_, false)) return;  // it was granted, or ended by `leave`
    whose.waiting_.erase(move->place_);
    if (whose.waiting_.empty()) end_waiting();
  }
  move->complete(asio::error::operation_aborted);
}

/// A handler may own a track, which leaves when it is destroyed, so the handlers are destroyed without the lock.
void balance_core::drop() {
  moves dropped;
  const std::lock_guard lock(mutex_);
  for (auto* each : tracks_) {
    for (const auto& move : each->waiting_) move->waits_ = false;
    dropped.splice(dropped.end(), each->waiting_);
  }
  waiting_.store(0, std::memory_order_seq_cst);
}

/// Looks at the steps of all tracks, twice: the fastest is looked for before the slowest. So the spread is one that
/// there was, at least, at the moment when the fastest was seen, however the tracks move meanwhile.
void balance_core::look() {
  if (tracks_.empty()) {
    spread_ = 0;
    return;
  }
  const auto steps = [](const track_state* each) { return each->steps(); };
  auto fastest = steps(tracks_.front());
  for (const auto* each : tracks_) fastest = std::max(fastest, steps(each));
  auto slowest = steps(tracks_.front());
  for (const auto* each : tracks_) slowest = std::min(slowest, steps(each));
  slowest_ = slowest;
  spread_ = std::max<std::int64_t>(0, fastest - slowest);
  largest_spread_ = std::max(largest_spread_, spread_);
}

/// Makes the steps that the limit allows to moves that wait. True: the slowest track was among them, so the limit may
/// have risen again.
bool balance_core::grant(moves& granted) {
  if (waiting_.load(std::memory_order_relaxed) == 0) return false;
  bool has_slowest = false;
  for (auto* each : tracks_) {
    while (!each->waiting_.empty() && each->steps() < limit()) {
      has_slowest = has_slowest || each->steps() == slowest_;
      each->steps_.store(each->steps() + 1, std::memory_order_release);
      each->waiting_.front()->waits_ = false;
      granted.splice(granted.end(), each->waiting_, each->waiting_.begin());
      if (each->waiting_.empty()) end_waiting();
    }
  }
  return has_slowest;
}

/// Computes the limit. The moves that it allows are to be completed without the lock.
balance_core::moves balance_core::advance() {
  moves granted;
  do look();
  while (grant(granted));
  return granted;
}

void balance_core::begin_waiting() {
  if (waiting_.load(std::memory_order_relaxed) == 0) keep_until_shutdown(executor_, shared_from_this());
  waiting_.fetch_add(1, std::memory_order_seq_cst);
}

/// The copy that is dropped here is never the last one: each caller holds a track or the balance.
void balance_core::end_waiting() {
  if (waiting_.fetch_sub(1, std::memory_order_seq_cst) == 1) release(executor_, this);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

balance_track::balance_track() noexcept = default;
balance_track::balance_track(state_ptr state) noexcept : state_(std::move(state)) {}
balance_track::~balance_track() { leave(); }
balance_track::balance_track(balance_track&&) noexcept = default;

balance_track& balance_track::operator=(balance_track&& other) noexcept {
  auto before = std::exchange(state_, std::exchange(other.state_, nullptr));
  if (before && before != state_) before->core().leave(*before);
  return *this;
}

bool balance_track::try_move() { return state_ && state_->try_move(); }

void balance_track::start_move(detail::handler_for<void(error_code)> handler, state_ptr whose) {
  whose->move(std::move(handler));
}

void balance_track::leave() noexcept {
  if (state_) state_->core().leave(*state_);
}

std::uint64_t balance_track::steps() const noexcept { return state_ ? static_cast<std::uint64_t>(state_->steps()) : 0; }

const std::string& balance_track::name() const noexcept { return state_ ? state_->name() : detail::no_path(); }

balance_track::executor_type balance_track::get_executor() const noexcept {
  return state_ ? state_->core().executor() : executor_type();
}

using namespace detail;

namespace {

void check(const balance_options& options) {
  if (is_range(options.range)) return;
  throw std::invalid_argument("balance_options::range is " + std::to_string(options.range) + "; it must be from 1 to " +
                              std::to_string(largest_range));
}

}  // namespace

balance::balance(executor_type executor, balance_options options) {
  if (!executor) throw std::invalid_argument("balance executor: it is empty");
  check(options);
  core_ = std::make_shared<balance_core>(std::move(executor), options);
}

balance_track balance::track(std::string name) const {
  if (!core_) return balance_track();
  require_id("balance track", name);
  return balance_track(core_->join(std::move(name)));
}

balance_status balance::status() const { return core_ ? core_->status() : balance_status(); }

const balance_options& balance::options() const noexcept {
  static const balance_options none;
  return core_ ? core_->options() : none;
}

balance::executor_type balance::get_executor() const noexcept { return core_ ? core_->executor() : executor_type(); }

}  // namespace zkrecipes
