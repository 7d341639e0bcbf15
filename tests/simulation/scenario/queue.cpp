// One client puts and up to three take, in every way that a queue offers.
#include <memory>

#include <zkrecipes/producer.hpp>

#include "run/scenarios.hpp"
#include "scenario/queue_playbook.hpp"
#include "scenario/queue_rules.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

namespace {

constexpr int putting_client = 3;
constexpr std::size_t backlog = 100;  // items that are put at once when fewer than this are left:
constexpr std::size_t nearly_empty = 20;
constexpr std::size_t enough = 30;  // no more items than this, because a single taker must be able to take all in time

queue_use draw_use(std::uint64_t seed) {
  chance draw(seed, 200);
  queue_use use;
  use.kind = draw.one_in(2) ? queue_kind::fifo : draw.one_in(2) ? queue_kind::priority : queue_kind::delayed;
  use.pops = draw.one_in(3);
  use.alone = draw.one_in(3);
  if (draw.one_in(3)) use.limit = 1 + draw.below(6);
  if (draw.one_in(3)) use.max_attempts = static_cast<std::int32_t>(1 + draw.below(5));
  chance more(seed, 201);
  use.produces = use.kind == queue_kind::fifo && more.one_in(3);
  use.revives = more.one_in(3);
  use.changes_mind = more.one_in(3);
  use.takes_twice = !use.pops && !use.alone && more.one_in(3);
  return use;
}

class queue_scenario final : public scenario {
 public:
  queue_scenario(stage& in, queue_use use) : rules(in, use), done(in), in_(in) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override { rules.committed(what); }
  void received(const connection& from, const backend::request& what) override { rules.received(from, what); }
  void healed() override { done.forget(); }
  bool recovered() override { return done.everybody(); }
  /// Allows another ten seconds, because a cancelled put can still be on its way.
  bool settled() override {
    if (!closing) closed_at_ = in_.clock().now();
    closing = true;
    return rules.size() == 0 && in_.clock().now() >= closed_at_ + 10s;
  }
  void check_quiet(const tree& nodes) override { rules.check_quiet(nodes); }

  queue_rules rules;
  progress done;
  std::uint64_t values = 0;
  std::uint64_t effects = 0;
  bool closing = false;  ///< No more items are to be put.

 private:
  stage& in_;
  instant closed_at_{0};
};

class participant : public routine {
 public:
  participant(queue_scenario& of, stage& in, int client, session with)
      : routine(in, client, with),
        of_(of),
        queue_(with, of.rules.use().kind, queue_rules::path,
               {.limit = of.rules.use().limit, .max_attempts = of.rules.use().max_attempts}),
        more_(in.what().seed, 340 + static_cast<std::uint64_t>(client)) {}

  /// Operations that are begun after the close must end with `closed`.
  void close() override {
    routine::close();
    const auto ends = [this](error_code why, const message&) {
      in().require(why == errc::closed, "nothing is done after a close", why.message());
    };
    aside<message>([this](auto token) { queue_.base().async_take(std::move(token)); }, ends);
    aside<message>([this](auto token) { queue_.base().async_pop(std::move(token)); }, ends);
  }

 protected:
  asio::awaitable<void> put_some() {
    const bool at_once = of_.rules.use().backlog;
    if (of_.rules.size() >= (at_once ? nearly_empty : enough)) {
      of_.done.note(client());
      co_return;
    }
    std::vector<std::string> some(at_once ? backlog : dice().one_in(4) ? 1 + dice().below(4) : 1);
    for (auto& each : some) each = "v" + std::to_string(++of_.values);
    of_.rules.puts_begin(client(), some.size());
    error_code error;
    if (of_.rules.use().produces && client() == putting_client) {
      auto producing = produce(some);
      error = co_await std::move(producing);
    } else if (some.size() > 1 && queue_.puts_many()) {
      auto putting = put_many(some);
      error = co_await std::move(putting);
      for (const auto& each : some) of_.rules.put_ends(each, error);
    } else {
      for (const auto& each : some) {
        auto putting = put(each);
        error = co_await std::move(putting);
        of_.rules.put_ends(each, error);
      }
    }
    of_.rules.puts_end(client());
    if (client() == putting_client && (!error || error == errc::full)) of_.done.note(client());
  }

  queue_scenario& of_;
  any_queue queue_;
  chance more_;  ///< For draws that were added later, so that the other draws of a seed stay the same.

 private:
  asio::awaitable<error_code> put(std::string value) {
    const int priority = static_cast<int>(dice().below(3));
    const auto delay = std::chrono::duration_cast<std::chrono::milliseconds>(dice().between(0ms, 3s));
    auto putting = waits<std::string>([&](auto token) { queue_.async_put(value, priority, delay, std::move(token)); });
    auto result = co_await std::move(putting);
    co_return std::get<0>(result);
  }

  /// Puts all values at once: the producer sends them together, as far as the queue's limit leaves room.
  asio::awaitable<error_code> produce(std::vector<std::string> values) {
    if (!maker_) {
      const auto linger = more_.one_in(2) ? 0ms : more_.between(1ms, 300ms);
      const producer_options how{.max_batch = 1 + more_.below(4),
                                 .linger = std::chrono::duration_cast<std::chrono::milliseconds>(linger)};
      maker_ = std::make_unique<producer>(queue_.fifo(), "maker", how);
    }
    auto left = std::make_shared<std::size_t>(values.size() - 1);
    for (std::size_t i = 1; i < values.size(); ++i) {
      aside<std::uint64_t>([&](auto token) { maker_->async_put(values[i], std::move(token)); },
                           [this, value = values[i], left](error_code error, std::uint64_t) {
                             of_.rules.put_ends(value, error);
                             --*left;
                           });
    }
    auto putting = waits<std::uint64_t>([&](auto token) { maker_->async_put(values[0], std::move(token)); });
    auto result = co_await std::move(putting);
    of_.rules.put_ends(values[0], std::get<0>(result));
    while (*left > 0) co_await rest(50ms, 200ms);
    co_return std::get<0>(result);
  }

  asio::awaitable<error_code> put_many(std::vector<std::string> values) {
    std::vector<prioritized> ranked;
    for (const auto& each : values) ranked.push_back({each, static_cast<int>(dice().below(3))});
    auto putting =
        waits<std::vector<std::string>>([&](auto token) { queue_.async_put_many(ranked, std::move(token)); });
    auto result = co_await std::move(putting);
    co_return std::get<0>(result);
  }

  std::unique_ptr<producer> maker_;
};

class putter_of final : public participant {
 public:
  using participant::participant;
  void go() {
    if (of_.rules.use().backlog) longest_rest = 10s;
    begin();
  }

 private:
  asio::awaitable<void> round() override { return put_some(); }
};

class taker_of final : public participant {
 public:
  using participant::participant;
  void cancel(asio::cancellation_type type) override {
    participant::cancel(type);
    second_.emit(type);
  }
  void stop() override {
    participant::stop();
    second_.emit(asio::cancellation_type::total);
  }
  void go() {
    if (of_.rules.use().backlog) longest_rest = 20ms;
    begin();
  }

 private:
  asio::awaitable<void> round() override {
    if (of_.rules.use().alone && client() != 0) {
      of_.done.note(client());
      co_return;
    }
    if (!prepared_) {
      auto preparing = does<>([&](auto token) { zk().async_ensure_path(queue_rules::results, std::move(token)); });
      auto [error] = co_await std::move(preparing);
      prepared_ = !error;
      if (error) co_return;
    }
    const bool only_takes = of_.closing || of_.rules.use().backlog;
    if (!only_takes && dice().one_in(5)) co_await put_some();
    if (of_.rules.use().revives && !only_takes && more_.one_in(6)) co_await revive();
    if (of_.rules.use().takes_twice && !std::exchange(is_second_busy_, true)) take_beside();
    auto turn = of_.rules.use().pops ? pop() : dice().one_in(4) ? take_many() : take();
    co_await std::move(turn);
  }

  /// Revives a random dead letter, as an operator does.
  asio::awaitable<void> revive() {
    auto listing =
        waits<std::vector<dead_letter>>([&](auto token) { queue_.base().async_dead_letters(std::move(token)); });
    auto [error, letters] = co_await std::move(listing);
    if (error || letters.empty() || of_.closing) co_return;
    const auto letter = letters[more_.below(letters.size())];
    auto reviving = waits<>([&](auto token) { queue_.base().async_revive(letter, std::move(token)); });
    std::tie(error) = co_await std::move(reviving);
    const bool fine = !error || error == errc::full || error == errc::no_node || error == errc::outcome_unknown ||
                      error == errc::session_expired || error == asio::error::operation_aborted;
    in().require(fine, "a dead letter can be revived", error.message());
  }

  asio::awaitable<void> pop() {
    auto popping = waits<message>([&](auto token) { queue_.base().async_pop(std::move(token)); });
    auto [error, item] = co_await std::move(popping);
    of_.rules.popped(error, item);
    if (!error) of_.done.note(client());
  }

  void take_beside() {
    const auto taken = [this](error_code error, message item) {
      if (error) return void(is_second_busy_ = false);
      const auto bound = zk().status().session_id;
      of_.rules.taken(client(), bound, item);
      of_.rules.finished_with(item.data);
      acknowledge_beside(item, new_effect(item), bound);
    };
    all().start<message>(
        second_, [this](auto token) { queue_.base().async_take(std::move(token)); }, taken);
  }

  void acknowledge_beside(const message& item, const std::string& effect, std::int64_t bound) {
    const auto settled = [this, item, effect, bound](error_code end) {
      of_.rules.acknowledged(effect, end, as_far_as_known(bound));
      if (end == errc::connection_loss) return acknowledge_beside(item, effect, bound);
      is_second_busy_ = false;
    };
    all().start<>([&](auto token) { acknowledge(item, effect, std::move(token)); }, settled);
  }

  asio::awaitable<void> take() {
    auto taking = waits<message>([&](auto token) { queue_.base().async_take(std::move(token)); });
    auto [error, item] = co_await std::move(taking);
    if (error) co_return;
    of_.rules.taken(client(), zk().status().session_id, item);
    auto working = work(std::move(item), zk().status().session_id);
    co_await std::move(working);
  }

  asio::awaitable<void> take_many() {
    auto taking = waits<std::vector<message>>([&](auto token) { queue_.base().async_take_many(3, std::move(token)); });
    auto [error, some] = co_await std::move(taking);
    for (const auto& each : some) of_.rules.taken(client(), zk().status().session_id, each);
    const auto bound = zk().status().session_id;
    for (auto& each : some) {
      auto working = work(std::move(each), bound);
      co_await std::move(working);
    }
  }

  asio::awaitable<void> work(message item, std::int64_t bound) {
    of_.done.note(client());
    if (!of_.rules.use().backlog) co_await rest(0ms, 500ms);
    error_code error;
    if (dice().one_in(6)) {
      const auto where = dice().one_in(2) ? return_to::place : return_to::end;
      auto returning = does<>([&](auto token) { queue_.base().async_return(item, where, "later", std::move(token)); });
      std::tie(error) = co_await std::move(returning);
      if (!error || error == errc::superseded || error == errc::outcome_unknown) co_return;
    } else if (dice().one_in(16)) {
      do {
        auto rejecting = does<>([&](auto token) { queue_.base().async_reject(item, "bad", std::move(token)); });
        std::tie(error) = co_await std::move(rejecting);
      } while (error == errc::connection_loss);
      of_.rules.rejected(item.data, error, as_far_as_known(bound));
      co_return;
    }
    of_.rules.finished_with(item.data);
    if (of_.rules.use().changes_mind && more_.one_in(3)) {
      in().later(client(), more_.between(0ms, 20ms), [this] { cancel(asio::cancellation_type::total); });
      const auto effect = new_effect(item);
      auto finishing = waits<>([&](auto token) { acknowledge(item, effect, std::move(token)); });
      std::tie(error) = co_await std::move(finishing);
      of_.rules.acknowledged(effect, error, as_far_as_known(bound));
      if (error != asio::error::operation_aborted && error != errc::connection_loss) co_return;
    }
    const auto effect = new_effect(item);
    do {  // without a connection for long it ends, and is told the truth when it is repeated
      auto finishing = does<>([&](auto token) { acknowledge(item, effect, std::move(token)); });
      std::tie(error) = co_await std::move(finishing);
    } while (error == errc::connection_loss);
    of_.rules.acknowledged(effect, error, as_far_as_known(bound));
  }

  /// The session, or 0 if the client has given it up. A deposed leader refuses a session that began at its successor:
  /// for the client it has ended then, although the ensemble still knows it.
  std::int64_t as_far_as_known(std::int64_t bound) { return zk().status().session_id == bound ? bound : 0; }

  std::string new_effect(const message& item) { return item.data + ' ' + std::to_string(++of_.effects); }

  template <class Token>
  void acknowledge(const message& item, const std::string& effect, Token token) {
    queue_.base().async_acknowledge(item, transaction().set(queue_rules::results, effect), std::move(token));
  }

  bool prepared_ = false;
  asio::cancellation_signal second_;
  bool is_second_busy_ = false;
};

std::unique_ptr<program> queue_scenario::start(stage& in, int client, session with) {
  rules.life_begins(client);
  auto begun = [](auto made) {
    made->go();
    return made;
  };
  if (client == putting_client) return begun(std::make_unique<putter_of>(*this, in, client, std::move(with)));
  return begun(std::make_unique<taker_of>(*this, in, client, std::move(with)));
}

}  // namespace

std::unique_ptr<scenario> make_queue_scenario(stage& in) {
  return std::make_unique<queue_scenario>(in, draw_use(in.what().seed));
}

std::unique_ptr<scenario> make_backlog_scenario(stage& in) {
  queue_use use;
  use.backlog = true;
  return std::make_unique<queue_scenario>(in, use);
}

}  // namespace zkrecipes::simulation
