#include "backend/zookeeper/real_world.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include <time.h>

#include <boost/asio/steady_timer.hpp>

#include "backend/zookeeper/name_resolution.hpp"
#include "backend/zookeeper/random_generator.hpp"
#include "backend/zookeeper/real_link.hpp"

namespace zkrecipes::backend {

namespace asio = boost::asio;

namespace {

std::uint32_t draw_word() {
  static thread_local std::random_device source;
  return source();
}

class real_world final : public world {
 public:
  explicit real_world(asio::any_io_executor strand) : strand_(std::move(strand)), random_(make_generator(&draw_word)) {}

  lease_clock::time_point now() override { return lease_clock::now(); }
  lease_clock::time_point rough_now() override {
    timespec present{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &present);
    return lease_clock::time_point(std::chrono::seconds(present.tv_sec) + std::chrono::nanoseconds(present.tv_nsec));
  }
  std::chrono::system_clock::time_point wall_clock() override { return std::chrono::system_clock::now(); }
  std::uint64_t random() override { return random_(); }

  timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    timer_id id = ++last_timer_;
    const auto present = now();
    auto timer = std::make_unique<asio::steady_timer>(strand_, std::max(when, present) - present);
    // The handler of an expired timer can already be queued when the timer is cancelled or this world is destroyed.
    timer->async_wait([id, timers = std::weak_ptr(timers_), what = std::move(what)](error_code error) {
      auto alive = timers.lock();
      if (!error && alive && alive->erase(id)) what();
    });
    timers_->emplace(id, std::move(timer));
    return id;
  }
  void cancel(timer_id id) override { timers_->erase(id); }

  void resolve(std::vector<endpoint> names, resolve_handler handler) override {
    std::make_shared<name_resolution>(strand_, std::move(names), std::move(handler))->start();
  }

  std::unique_ptr<link> connect(link_options options, link_listener& listener) override {
    auto shared = std::make_shared<c_client_link>(strand_, listener);
    shared->connect(options);
    return std::make_unique<real_link>(std::move(shared));
  }

 private:
  asio::any_io_executor strand_;
  std::mt19937_64 random_;
  timer_id last_timer_ = 0;
  using timer_map = std::map<timer_id, std::unique_ptr<asio::steady_timer>>;
  std::shared_ptr<timer_map> timers_ = std::make_shared<timer_map>();
};

}  // namespace

std::unique_ptr<world> make_real_world(asio::any_io_executor strand) {
  return std::make_unique<real_world>(std::move(strand));
}

}  // namespace zkrecipes::backend
