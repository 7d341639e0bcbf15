#include "balance/core.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <zkrecipes/error.hpp>

#include "balance/largest_range.hpp"
#include "balance/track_state.hpp"

namespace zkrecipes::detail {

namespace asio = boost::asio;

class balance_core;

/// The balances of an execution context in which moves wait.
/// The handler of a move that waits may own its track, and the track owns the move. If the program ends meanwhile, the
/// shutdown of the context has to break these cycles, or they would leak.
class waiting_balances : public asio::execution_context::service {
 public:
  using key_type = waiting_balances;
  static asio::execution_context::id id;

  explicit waiting_balances(asio::execution_context& context);

  void add(const std::shared_ptr<balance_core>& each);
  void remove(balance_core* each) noexcept;

 private:
  void shutdown() override;
  std::shared_ptr<balance_core> next();

  std::mutex mutex_;
  std::map<balance_core*, std::weak_ptr<balance_core>> all_;
};

asio::execution_context::id waiting_balances::id;

waiting_balances::waiting_balances(asio::execution_context& context) : asio::execution_context::service(context) {}

void waiting_balances::add(const std::shared_ptr<balance_core>& each) {
  const std::lock_guard lock(mutex_);
  all_.emplace(each.get(), each);
}

void waiting_balances::remove(balance_core* each) noexcept {
  const std::lock_guard lock(mutex_);
  all_.erase(each);
}

void waiting_balances::shutdown() {
  // To abandon one may destroy others, so each is looked for anew.
  while (const auto each = next()) each->abandon();
}

std::shared_ptr<balance_core> waiting_balances::next() {
  const std::lock_guard lock(mutex_);
  while (!all_.empty()) {
    auto first = all_.begin()->second.lock();
    all_.erase(all_.begin());
    if (first) return first;
  }
  return nullptr;
}

namespace {

waiting_balances& waiting_in(const asio::any_io_executor& executor) {
  return asio::use_service<waiting_balances>(asio::query(executor, asio::execution::context));
}

}  // namespace

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
void balance_core::abandon() noexcept {
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
  if (waiting_.load(std::memory_order_relaxed) == 0) waiting_in(executor_).add(shared_from_this());
  waiting_.fetch_add(1, std::memory_order_seq_cst);
}

void balance_core::end_waiting() {
  if (waiting_.fetch_sub(1, std::memory_order_seq_cst) == 1) waiting_in(executor_).remove(this);
}

}  // namespace zkrecipes::detail
