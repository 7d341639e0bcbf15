// A world for what needs timers and no session.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backend/world.hpp"
#include "fuzz/target.hpp"
#include "session/scheduler.hpp"

namespace fuzz {

/// Its time stands still but for the steps from a timer to the next.
class still_world {
 public:
  still_world() {
    scheduler_->base = scheduler_->strand = io_.get_executor();
    scheduler_->world = std::make_unique<clock>(timers_);
  }

  const zkrecipes::detail::scheduler_ptr& on() const { return scheduler_; }
  void poll() {
    io_.restart();
    io_.poll();
  }
  /// Goes on to the timer that is due first. False: there is none.
  bool run_next() {
    poll();
    return timers_.run_next();
  }
  /// Until there are no more timers.
  void run_all() {
    for (int i = 0; run_next(); ++i) require(i < 1'000, "timers have an end");
    poll();
  }

 private:
  using time = zkrecipes::lease_clock::time_point;
  using timer_id = zkrecipes::backend::timer_id;

  class timers {
   public:
    timer_id add(time when, std::function<void()> what) {
      all_.emplace(std::pair(std::max(when, now_), ++last_), std::move(what));
      return last_;
    }
    void remove(timer_id which) {
      std::erase_if(all_, [which](const auto& each) { return each.first.second == which; });
    }
    bool run_next() {
      if (all_.empty()) return false;
      const auto first = all_.extract(all_.begin());
      now_ = first.key().first;
      first.mapped()();
      return true;
    }
    time now() const { return now_; }

   private:
    time now_{std::chrono::hours(1)};
    timer_id last_ = 0;
    std::map<std::pair<time, timer_id>, std::function<void()>> all_;
  };

  class clock final : public zkrecipes::backend::world {
   public:
    explicit clock(timers& of) : timers_(of) {}

    time now() override { return timers_.now(); }
    std::chrono::system_clock::time_point wall_clock() override {
      return std::chrono::system_clock::time_point(std::chrono::hours(480'000));
    }
    std::uint64_t random() override { return 7; }
    timer_id call_at(time when, std::function<void()> what) override { return timers_.add(when, std::move(what)); }
    void cancel(timer_id id) override { timers_.remove(id); }
    void resolve(std::vector<zkrecipes::backend::endpoint>, zkrecipes::backend::resolve_handler) override {}
    std::unique_ptr<zkrecipes::backend::link> connect(zkrecipes::backend::link_options,
                                                      zkrecipes::backend::link_listener&) override {
      return nullptr;
    }

   private:
    timers& timers_;
  };

  boost::asio::io_context io_;
  timers timers_;
  zkrecipes::detail::scheduler_ptr scheduler_ = std::make_shared<zkrecipes::detail::scheduler>();
};

}  // namespace fuzz
