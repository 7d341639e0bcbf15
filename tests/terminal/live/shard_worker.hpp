// A member of a shard group. It executes each shard until it is asked to give it up, and hands over when the test lets
// it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

#include "ensemble/hold_point.hpp"
#include "support/fixture.hpp"

class shard_worker {
 public:
  shard_worker(zkrecipes::session over, const std::string& path, zkrecipes::shard_group_options with)
      : session_(std::move(over)), group_(session_, path, std::move(with)), end_(session_.get_executor()) {
    group_.async_run([this](const zkrecipes::shard&) { return std::make_unique<career>(*this); }, end_.token());
  }

  /// Hand-overs last until the hold is opened.
  zkrecipes::test::hold_point& hold_back() { return held_back_.emplace(session_.get_executor()); }

  void stop() { group_.stop(); }
  bool has_ended() const { return end_.done(); }
  int executing() const { return executing_; }

 private:
  struct career final : zkrecipes::leader_career {
    explicit career(shard_worker& of) : owner(of) {}

    zkrecipes::career_traits traits() const override {
      zkrecipes::career_traits declared;
      declared.hand_over_deadline = std::chrono::seconds(20);
      return declared;
    }
    boost::asio::awaitable<void> inaugurate(zkrecipes::term) override { co_return; }
    boost::asio::awaitable<void> execute(zkrecipes::term present) override {
      ++owner.executing_;
      co_await present.async_ending(boost::asio::as_tuple(boost::asio::use_awaitable));
      --owner.executing_;
    }
    boost::asio::awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override {
      if (owner.held_back_) co_await owner.held_back_->pass();
    }

    shard_worker& owner;
  };

  zkrecipes::session session_;
  zkrecipes::shard_group group_;
  std::optional<zkrecipes::test::hold_point> held_back_;
  zkrecipes::test::recorder<> end_;
  int executing_ = 0;
};
