#include "role.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/service/metrics.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "outlets.hpp"

namespace zkrecipes::service {

namespace asio = boost::asio;

namespace {

/// Processes messages, of the whole queue or of one shard.
class worker : public queue_consumer {
 public:
  template <class From>
  worker(const From& from, surroundings& here, const work& does)
      : queue_consumer(from, here.settings.consumer), here_(here), does_(does) {}

  career_traits traits() const override { return {.hand_over_deadline = here_.settings.hand_over}; }
  asio::awaitable<message_outcome> process(term present, const message& item) override {
    return does_.process(here_, std::move(present), item);
  }

 private:
  surroundings& here_;
  const work& does_;
};

/// The figures of all consumers that a process has had: the consumers of shards come and go, their totals stay.
class consumer_totals {
 public:
  void begin(const queue_consumer* consumer) { present_.insert(consumer); }
  void end(const queue_consumer* consumer) {
    if (present_.erase(consumer)) add_counters(past_, consumer->status());
  }
  queue_consumer_status sum() const {
    auto total = past_;
    for (const auto* each : present_) {
      const auto now = each->status();
      add_counters(total, now);
      add_present(total, now);
    }
    return total;
  }

 private:
  static void add_counters(queue_consumer_status& to, const queue_consumer_status& more) {
    using status = queue_consumer_status;
    for (const auto member : {&status::received, &status::done, &status::again, &status::parked, &status::passed_over,
                              &status::lost, &status::declined, &status::repeated, &status::forgotten, &status::evicted,
                              &status::waited, &status::commits, &status::refused})
      to.*member += more.*member;
  }
  static void add_present(queue_consumer_status& to, const queue_consumer_status& more) {
    to.in_hand += more.in_hand;
    to.finished += more.finished;
    to.held_back += more.held_back;
    to.resting += more.resting;
    to.limited += more.limited;
    to.last_commit = std::max(to.last_commit, more.last_commit);
    to.oldest = std::max(to.oldest, more.oldest);
    if (to.held_off.empty()) to.held_off = more.held_off;
  }

  std::set<const queue_consumer*> present_;
  queue_consumer_status past_;
};

/// One replica consumes the queue, and the others stand by.
class single_role : public role {
 public:
  single_role(surroundings& here, const work& does)
      : worker_(queue(here.zk, here.settings.input), here, does),
        coordinator_(here.zk, here.settings.group, {.id = here.settings.id}) {}

  asio::awaitable<error_code> run() override {
    auto [error] = co_await coordinator_.async_run(worker_, asio::as_tuple(asio::use_awaitable));
    co_return error;
  }
  void stop() override { coordinator_.stop(); }
  std::string describe() const override { return service::describe(coordinator_.status()); }
  std::string failure() const override {
    try {
      if (const auto failure = coordinator_.failure()) std::rethrow_exception(failure);
    } catch (const std::exception& failure) {
      return failure.what();
    }
    return {};
  }
  void add_to(metrics_page& page) const override {
    add_metrics(page, coordinator_.status());
    add_metrics(page, worker_.status());
  }

 private:
  worker worker_;
  consumer_coordinator coordinator_;
};

/// The worker of one shard, which is counted.
class shard_worker : public worker {
 public:
  shard_worker(const message_feed& from, surroundings& here, const work& does, std::shared_ptr<consumer_totals> totals)
      : worker(from, here, does), totals_(std::move(totals)) {
    totals_->begin(this);
  }
  ~shard_worker() override { totals_->end(this); }

 private:
  std::shared_ptr<consumer_totals> totals_;
};

/// Each replica consumes its share of the shards of a topic.
class shard_role : public role {
 public:
  shard_role(surroundings& here, const work& does)
      : topic_(make_topic(here.zk, here.settings)),
        here_(here),
        does_(does),
        group_(here.zk, here.settings.group, {.id = here.settings.id, .shards = here.settings.shards}) {}

  asio::awaitable<error_code> run() override {
    auto make = [this](const shard& which) -> std::unique_ptr<leader_career> {
      return std::make_unique<shard_worker>(topic_.feed(which.number, here_.settings.consumers), here_, does_, totals_);
    };
    auto [error] = co_await group_.async_run(std::move(make), asio::as_tuple(asio::use_awaitable));
    co_return error;
  }
  void stop() override { group_.stop(); }
  std::string describe() const override { return group_.status().member.empty() ? "starting" : "member"; }
  void add_to(metrics_page& page) const override {
    add_metrics(page, group_.status());
    add_metrics(page, totals_->sum());
  }

 private:
  const topic topic_;
  surroundings& here_;
  const work& does_;
  const std::shared_ptr<consumer_totals> totals_ = std::make_shared<consumer_totals>();
  shard_group group_;
};

}  // namespace

std::unique_ptr<role> make_role(surroundings& here, const work& does) {
  if (here.settings.mode == work_mode::single) return std::make_unique<single_role>(here, does);
  return std::make_unique<shard_role>(here, does);
}

bool takes_part(const coordinator_status& now) {
  return now.ahead.has_value() || now.phase == coordinator_phase::executing;
}

std::string describe(const coordinator_status& now) {
  if (now.phase == coordinator_phase::handing_over) return "handing over";
  if (!takes_part(now)) return "starting";
  return now.phase == coordinator_phase::executing ? "leader" : "standby";
}

}  // namespace zkrecipes::service
