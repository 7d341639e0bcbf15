// A replica that campaigns, leads until it is asked to give up, and hands over when the test lets it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "ensemble/hold_point.hpp"
#include "support/fixture.hpp"

class worker final : public zkrecipes::leader_career {
 public:
  worker(zkrecipes::test::fixture& of, const std::string& path, const std::string& id, zkrecipes::session over,
         std::chrono::milliseconds deadline = std::chrono::seconds(20))
      : deadline_(deadline),
        session_(std::move(over)),
        coordinator_(session_, path, {.id = id, .rest = std::chrono::milliseconds(0)}),
        end_(of.executor()) {
    coordinator_.async_run(*this, end_.token());
  }

  zkrecipes::career_traits traits() const override {
    zkrecipes::career_traits declared;
    declared.hand_over_deadline = deadline_;
    return declared;
  }

  boost::asio::awaitable<void> inaugurate(zkrecipes::term) override {
    if (held_inauguration_) co_await held_inauguration_->pass();
  }

  boost::asio::awaitable<void> execute(zkrecipes::term present) override {
    leads = true;
    co_await present.async_ending(boost::asio::as_tuple(boost::asio::use_awaitable));
  }

  boost::asio::awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override {
    leads = false;
    if (held_back_) co_await held_back_->pass();
  }

  /// The next hand-over lasts until the hold is opened.
  zkrecipes::test::hold_point& hold_back() { return held_back_.emplace(session_.get_executor()); }

  /// The same of the next inauguration.
  zkrecipes::test::hold_point& hold_inauguration() { return held_inauguration_.emplace(session_.get_executor()); }

  void stop() { coordinator_.stop(); }
  bool has_ended() const { return end_.done(); }

  bool leads = false;

 private:
  std::chrono::milliseconds deadline_;
  zkrecipes::session session_;
  zkrecipes::consumer_coordinator coordinator_;
  std::optional<zkrecipes::test::hold_point> held_back_;
  std::optional<zkrecipes::test::hold_point> held_inauguration_;
  zkrecipes::test::recorder<> end_;
};
