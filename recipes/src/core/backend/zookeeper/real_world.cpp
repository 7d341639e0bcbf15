#include "backend/zookeeper/real_world.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include <time.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/broker_socket.hpp"
#include "backend/descriptors.hpp"
#include "backend/guardian/guardian_stream.hpp"
#include "backend/link.hpp"
#include "backend/world.hpp"
#include "backend/zookeeper/c_client_link.hpp"
#include "backend/zookeeper/name_resolutions.hpp"

namespace zkrecipes::backend {

/// The timers of a real world, on one timer of Boost.Asio.
/// Most waits of the library are cancelled long before their time. A timer of Boost.Asio for each of them would cost a
/// system call each. So the one timer is set when an earlier time is wanted, and stays set when that is cancelled: then
/// it runs out for nothing, once.
///
/// On the strand only, but for `stop` and the destructor.
class timer_queue : public std::enable_shared_from_this<timer_queue> {
 public:
  explicit timer_queue(boost::asio::any_io_executor strand) : timer_(std::move(strand)) {}
  ~timer_queue();
  timer_queue(const timer_queue&) = delete;
  timer_queue& operator=(const timer_queue&) = delete;

  /// Never calls back from inside the call.
  timer_id call_at(lease_clock::time_point when, std::function<void()> what);
  void cancel(timer_id id);
  /// Calls nothing from now on. On any thread.
  void stop() noexcept { is_stopped_ = true; }

 private:
  using entries = std::map<std::pair<lease_clock::time_point, timer_id>, std::function<void()>>;

  bool is_set_in_time(lease_clock::time_point when, lease_clock::time_point present) const;
  void set(lease_clock::time_point present);
  void unset();
  void ring();
  void call_due();

  boost::asio::steady_timer timer_;
  entries waiting_;
  std::unordered_map<timer_id, lease_clock::time_point> times_;
  timer_id last_ = 0;
  lease_clock::time_point set_to_ = lease_clock::time_point::min();  ///< In the past: the timer is not set.
  lease_clock::duration suspended_{0};                               ///< As it was when the timer was set.
  std::atomic<bool> is_stopped_ = false;
};

namespace {

/// For how long the machine has been suspended: the clock of the library counts that time, the timer does not.
lease_clock::duration suspended(lease_clock::time_point present) {
  return present.time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

/// What the callbacks own is destroyed last, because it may cancel timers.
timer_queue::~timer_queue() {
  times_.clear();
  const auto dropped = std::exchange(waiting_, {});
}

timer_id timer_queue::call_at(lease_clock::time_point when, std::function<void()> what) {
  const auto id = ++last_;
  times_.emplace(id, when);
  try {
    waiting_.emplace(std::pair(when, id), std::move(what));
    const auto present = lease_clock::now();
    if (!is_set_in_time(when, present)) set(present);
  } catch (...) {
    cancel(id);
    throw;
  }
  return id;
}

bool timer_queue::is_set_in_time(lease_clock::time_point when, lease_clock::time_point present) const {
  constexpr lease_clock::duration reading = std::chrono::milliseconds(1);  // the two clocks are not read at once
  return present < set_to_ && set_to_ <= when && suspended(present) <= suspended_ + reading;
}

void timer_queue::cancel(timer_id id) {
  const auto found = times_.find(id);
  if (found == times_.end()) return;
  const auto dropped = waiting_.extract({found->second, id});  // destroyed last: what it owns may cancel other timers
  times_.erase(found);
  // A context without anything else to do must not go on for the sake of a timer that nobody waits for.
  if (waiting_.empty()) unset();
}

/// If there is no memory for it, the present wait goes on: the timers before this one run out all the same.
void timer_queue::set(lease_clock::time_point present) {
  const auto first = std::max(waiting_.begin()->first.first, present);
  boost::asio::steady_timer next(timer_.get_executor(), first - present);
  next.async_wait([weak = weak_from_this()](const error_code& error) {
    auto alive = weak.lock();
    if (!error && alive) alive->ring();
  });
  timer_ = std::move(next);
  set_to_ = first;
  suspended_ = suspended(present);
}

void timer_queue::unset() {
  set_to_ = lease_clock::time_point::min();
  timer_.cancel();
}

/// An exception of a callback leaves the context. The other timers run out all the same.
void timer_queue::ring() {
  const auto go_on = [this] {
    if (!is_stopped_ && !waiting_.empty()) set(lease_clock::now());
  };
  try {
    call_due();
  } catch (...) {
    go_on();
    throw;
  }
  go_on();
}

/// A callback may cancel other timers, set new ones, or end the world.
void timer_queue::call_due() {
  const auto present = lease_clock::now();
  while (!is_stopped_ && !waiting_.empty() && waiting_.begin()->first.first <= present) {
    auto due = waiting_.extract(waiting_.begin());
    times_.erase(due.key().second);
    due.mapped()();
  }
}

std::mt19937_64 make_generator(const std::function<std::uint32_t()>& draw) {
  std::array<std::uint32_t, 8> words;  // twice the bits of a GUID, because mixing loses a few
  for (auto& each : words) each = draw();
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

namespace asio = boost::asio;

namespace {

std::uint32_t draw_word() {
  static thread_local std::random_device source;
  return source();
}

class real_world final : public world {
 public:
  explicit real_world(asio::any_io_executor strand)
      : strand_(std::move(strand)),
        names_(std::make_shared<name_resolutions>(strand_)),
        random_(make_generator(&draw_word)),
        timers_(std::make_shared<timer_queue>(strand_)) {}
  ~real_world() override { timers_->stop(); }

  lease_clock::time_point now() override { return lease_clock::now(); }
  lease_clock::time_point rough_now() override {
    timespec present{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &present);
    return lease_clock::time_point(std::chrono::seconds(present.tv_sec) + std::chrono::nanoseconds(present.tv_nsec));
  }
  std::chrono::system_clock::time_point wall_clock() override { return std::chrono::system_clock::now(); }
  std::uint64_t random() override {
    if (drawn_in_.is_elsewhere()) {  // its parent would draw the same
      random_ = make_generator(&draw_word);
      drawn_in_ = home_process();
    }
    return random_();
  }

  timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    return timers_->call_at(when, std::move(what));
  }
  void cancel(timer_id id) override { timers_->cancel(id); }

  void resolve(std::vector<endpoint> names, resolve_handler handler) override {
    names_->resolve(std::move(names), std::move(handler));
  }
  void abandon_lookups() override { names_->abandon(); }

  std::unique_ptr<link> connect(link_options options, link_listener& listener) override {
    if (options.key.id == 0) home_ = home_process();
    options.is_of_parent = home_.is_elsewhere();
    return open_c_client_link(strand_, std::move(options), listener);
  }

  std::unique_ptr<guardian_line> call_guardian(const std::string& path, guardian_listener& listener) override {
    return open_guardian_line(strand_, path, listener);
  }

  std::unique_ptr<broker_stream> open_broker(const endpoint& broker, const std::string& name,
                                             const std::shared_ptr<tls_context>& tls) override {
    std::optional<tls_context::connection> secure;
    if (tls) secure = tls->make(to_string(broker), {name});
    return std::make_unique<broker_socket>(strand_, std::move(secure));
  }

 private:
  asio::any_io_executor strand_;
  std::shared_ptr<name_resolutions> names_;
  std::mt19937_64 random_;
  home_process drawn_in_;
  home_process home_;  // of the session
  std::shared_ptr<timer_queue> timers_;
};

}  // namespace

std::unique_ptr<world> make_real_world(asio::any_io_executor strand) {
  return std::make_unique<real_world>(std::move(strand));
}

}  // namespace zkrecipes::backend
