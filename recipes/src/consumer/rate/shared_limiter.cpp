#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/shared_limiter.hpp>

#include "rate/slice_share.hpp"
#include "session/background.hpp"
#include "session/core.hpp"
#include "session/paths.hpp"
#include "shards/group_member.hpp"

namespace zkrecipes::detail {

/// The member of a shard group that owns slices of a rate, and its share.
class shared_limiter_state : public std::enable_shared_from_this<shared_limiter_state> {
 public:
  /// `options` have been checked, and `burst` is set.
  shared_limiter_state(core_ptr session, std::string path, shared_limiter_options options);

  const scheduler_ptr& get_scheduler() const noexcept { return member_->get_scheduler(); }
  const std::shared_ptr<group_member>& member() const noexcept { return member_; }
  slice_share& share() const noexcept { return *share_; }
  const std::string& path() const noexcept { return member_->group()->where.root; }
  const shared_limiter_options& options() const noexcept { return options_; }
  shared_limiter_status status() const;

  /// Errors: those of `group_member::begin_run`.
  error_code begin_run();
  std::uint64_t present_run() const noexcept { return member_->present_run(); }

  // On the strand.
  awaitable<outcome<>> run(asio::any_io_executor executor);
  void stop(bool at_once) { member_->stop(at_once); }

 private:
  const shared_limiter_options options_;
  std::shared_ptr<slice_share> share_;
  std::shared_ptr<group_member> member_;
};

/// The career of one slice of a rate.
/// The slice is in the share of this process from the beginning of the term until it is to end.
class slice_career final : public leader_career {
 public:
  slice_career(std::shared_ptr<slice_share> share, std::uint32_t slice) : share_(std::move(share)), slice_(slice) {}

  career_traits traits() const override;
  boost::asio::awaitable<void> inaugurate(term present) override;
  boost::asio::awaitable<void> execute(term present) override;
  boost::asio::awaitable<void> hand_over(term present, term_end reason) override;
  boost::asio::awaitable<void> ended(term present, term_end reason) override;

 private:
  std::shared_ptr<slice_share> share_;
  std::uint32_t slice_;
};

/// Nobody has to wait for a predecessor that is gone: it has used the slice until the end of its lease at the latest.
career_traits slice_career::traits() const {
  career_traits all;
  all.hand_over_deadline = std::chrono::milliseconds(0);
  all.stall_limit = std::chrono::milliseconds(0);  // `execute` only waits for the end
  return all;
}

boost::asio::awaitable<void> slice_career::inaugurate(term present) {
  share_->add(slice_, [present] { return present.valid_until(); });
  co_return;
}

boost::asio::awaitable<void> slice_career::execute(term present) {
  co_await present.async_ending(boost::asio::as_tuple(boost::asio::use_awaitable));
  share_->remove(slice_);
}

/// The call before may have been cancelled, or not made.
boost::asio::awaitable<void> slice_career::hand_over(term, term_end) {
  share_->remove(slice_);
  co_return;
}

boost::asio::awaitable<void> slice_career::ended(term, term_end) {
  share_->remove(slice_);
  co_return;
}

namespace {

/// A process that dies again and again must not put slices in quarantine: its death has other reasons. The moves of all
/// slices may overlap, because each takes no longer than its writes.
shard_group_options group_options(const shared_limiter_options& options) {
  shard_group_options all;
  all.id = options.id;
  all.shards = options.slices;
  all.capacity = options.capacity;
  all.grace = options.grace;
  all.max_moves = 1;
  all.quarantine_after = 0;
  const lease_clock::duration per = options.per;
  all.data = std::to_string(options.rate) + " in " + std::to_string(per.count()) + " ns, burst " +
             std::to_string(options.burst);
  return all;
}

std::shared_ptr<group_member> make_member(core_ptr session, std::string path, const shared_limiter_options& options) {
  auto group = std::make_shared<group_frame>(std::move(session));
  group->where.root = std::move(path);
  group->options = group_options(options);
  return std::make_shared<group_member>(std::move(group));
}

}  // namespace

shared_limiter_state::shared_limiter_state(core_ptr session, std::string path, shared_limiter_options options)
    : options_(std::move(options)),
      share_(std::make_shared<slice_share>(session->get_scheduler(),
                                           slice_credit(options_.rate, options_.per, options_.burst, options_.slices))),
      member_(make_member(std::move(session), std::move(path), options_)) {}

error_code shared_limiter_state::begin_run() {
  auto make = [share = share_](const shard& which) { return std::make_unique<slice_career>(share, which.number); };
  auto refused = member_->begin_run(std::move(make));
  if (!refused) share_->open(member_->present_run());
  return refused;
}

awaitable<outcome<>> shared_limiter_state::run(asio::any_io_executor executor) {
  const auto mine = present_run();
  outcome<> ended;
  try {
    ended = co_await member_->run(std::move(executor));
  } catch (...) {  // no memory: those that wait for a share are told, too
    share_->close(mine);
    throw;
  }
  share_->close(mine);
  co_return ended;
}

shared_limiter_status shared_limiter_state::status() const {
  shared_limiter_status all;
  all.all = options_.slices;
  share_->show_in(all);
  all.rate = static_cast<double>(options_.rate) * all.slices / all.all;
  all.group = member_->status();
  return all;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t largest_rate = 1'000'000'000;

void require_limit(bool is_good, const char* option, const char* what) {
  if (is_good) return;
  throw std::invalid_argument(std::string("shared_limiter_options::") + option + ": it must be " + what);
}

/// The options with the burst that counts.
shared_limiter_options checked_limit(shared_limiter_options options) {
  const lease_clock::duration per = options.per;
  require_id("shared_limiter_options::id", options.id);
  require_limit(options.rate >= 1 && options.rate <= largest_rate, "rate", "1 to 1 000 000 000");
  require_limit(per >= 1us && per <= 24h, "per", "1 us to 24 h");
  require_limit(options.slices >= 1 && options.slices <= most_shards, "slices", "1 to 10 000");
  if (options.burst == 0) options.burst = options.slices;
  const bool is_burst = options.burst >= options.slices && options.burst <= largest_rate;
  require_limit(is_burst, "burst", "at least as many as `slices`, so that each lets a call through, and at most 10^9");
  const auto back_after = std::chrono::duration<double>(per).count() * static_cast<double>(options.burst) /
                          static_cast<double>(options.rate);
  require_limit(back_after <= 86'400, "burst", "back, at this rate, within 24 h: take fewer slices or a smaller burst");
  const bool is_number = std::isfinite(options.capacity);
  require_limit(is_number && options.capacity >= 0.001 && options.capacity <= 1000, "capacity", "0.001 to 1 000");
  require_limit(options.grace >= 0ms && options.grace <= 24h, "grace", "0 to 24 h");
  return options;
}

}  // namespace

shared_limiter::shared_limiter(session over, std::string path, shared_limiter_options options)
    : session_(std::move(over)) {
  require_path("shared limiter path", path);
  if (path == "/") reject("shared limiter path", path, "it is the root");
  auto checked = checked_limit(std::move(options));
  state_ = std::make_shared<shared_limiter_state>(require_session(session_), std::move(path), std::move(checked));
}

shared_limiter::shared_limiter() noexcept = default;
shared_limiter::shared_limiter(shared_limiter&&) noexcept = default;

shared_limiter& shared_limiter::operator=(shared_limiter&& other) noexcept {
  shared_limiter taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(state_, taken.state_);  // what we had is stopped here
  return *this;
}

shared_limiter::~shared_limiter() {
  if (state_) state_->member()->forbid_runs();
  stop();
}

void shared_limiter::stop() {
  if (!state_) return;
  asio::post(state_->get_scheduler()->strand, [self = state_] { self->stop(false); });
}

void shared_limiter::drain() {
  if (!state_) return;
  asio::post(state_->get_scheduler()->strand, [self = state_] { self->member()->drain(); });
}

bool shared_limiter::try_acquire(std::uint64_t cost) { return state_ && state_->share().try_acquire(cost); }

void shared_limiter::hold_off(time_span<lease_clock::duration> for_time) {
  if (state_) state_->share().hold_off(for_time);
}

shared_limiter_status shared_limiter::status() const { return state_ ? state_->status() : shared_limiter_status(); }

limiter_statistics shared_limiter::statistics() const {
  return state_ ? state_->share().statistics() : limiter_statistics();
}

const std::string& shared_limiter::path() const noexcept { return state_ ? state_->path() : no_path(); }

const shared_limiter_options& shared_limiter::options() const noexcept {
  static const shared_limiter_options defaults;
  return state_ ? state_->options() : defaults;
}

void shared_limiter::start_run(handler_for<void(error_code)> h, state_ptr state) {
  if (auto refused = state->begin_run()) return launch(*state->get_scheduler(), std::move(h), refuse<>(refused));
  launch_stoppable(std::move(h), std::move(state));
}

void shared_limiter::start_acquire(acquire_handler h, state_ptr state, std::uint64_t cost) {
  state->share().acquire(std::move(h), cost, lease_clock::duration::max());
}

void shared_limiter::start_acquire_for(acquire_handler h, state_ptr state, std::uint64_t cost, time_budget budget) {
  state->share().acquire(std::move(h), cost, budget);
}

}  // namespace zkrecipes
