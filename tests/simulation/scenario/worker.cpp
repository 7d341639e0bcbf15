#include <algorithm>
#include <memory>
#include <set>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "scenario/coordinator.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

class worker;

std::string failure_of(const consumer_coordinator& which) {
  try {
    std::rethrow_exception(which.failure());
  } catch (const std::exception& failure) {
    return failure.what();
  }
}

/// Consumes the queue. Now and then its calls take long, or throw.
class moody_career final : public leader_career {
 public:
  explicit moody_career(worker& of);

  career_traits traits() const override;
  asio::awaitable<void> inaugurate(term present) override;
  asio::awaitable<void> execute(term present) override;
  asio::awaitable<void> hand_over(term present, term_end reason) override;
  asio::awaitable<void> ended(term present, term_end reason) override;

  /// Whether a call has thrown while it was not cancelled, so that the exception can mean nothing else. Resets the
  /// flag.
  bool has_failed() { return std::exchange(failed_, false); }

 private:
  class inner final : public queue_consumer {
   public:
    template <class Source>
    inner(moody_career& of, const Source& from, queue_consumer_options options)
        : queue_consumer(from, std::move(options)), of_(of) {}
    asio::awaitable<message_outcome> process(term present, const message& item) override {
      return of_.process(std::move(present), item);
    }

   private:
    moody_career& of_;
  };

  asio::awaitable<message_outcome> process(term present, message item);
  asio::awaitable<void> takes(span usually, std::uint64_t seldom, span else_up_to);
  asio::awaitable<void> perhaps_throws();
  asio::awaitable<void> takes_all_its_time();
  asio::awaitable<void> leaves_a_note(term present);
  asio::awaitable<void> never_ends();
  std::shared_ptr<void> works();
  void check_stalled();

  worker& of_;
  chance mood_;
  chance more_;  ///< For draws that were added later, so that the other draws of a seed stay the same.
  std::unique_ptr<inner> does_;
  bool failed_ = false;
  struct work_log {
    std::multiset<lease_clock::time_point> since;  // of each call of `process` that runs
    lease_clock::duration longest{0};
  };
  std::shared_ptr<work_log> work_ = std::make_shared<work_log>();  // calls may outlive the career
};

class worker final : public session_program {
 public:
  worker(consumers& of, stage& in, int client, session with);

  void cancel(asio::cancellation_type type) override {
    type == asio::cancellation_type::terminal ? cancel_run() : coordinator_->resign();
  }
  void stop() override {
    stopping_ = true;
    coordinator_->stop();
  }
  std::string own_node() const override { return all.line.node_of(zk_.status().session_id); }
  belief believes(int) const override;

  session& zk() noexcept { return zk_; }
  lease_clock::time_point now() const { return in.inside(client).now(); }

  consumers& all;
  stage& in;
  int client;
  std::optional<term> present;

 private:
  void prepare();
  void run();
  void quit();
  void run_ended(error_code error);
  void cancel_run();

  chance chance_;
  std::unique_ptr<moody_career> career_;
  std::unique_ptr<consumer_coordinator> coordinator_;
  asio::cancellation_signal running_;
  bool cancelled_ = false;
  bool stopping_ = false;
};

worker::worker(consumers& of, stage& in_stage, int number, session with)
    : session_program(in_stage, number, with),
      all(of),
      in(in_stage),
      client(number),
      chance_(in.what().seed, 300 + static_cast<std::uint64_t>(client)),
      career_(std::make_unique<moody_career>(*this)),
      coordinator_(std::make_unique<consumer_coordinator>(
          with, service::election_path,
          consumer_coordinator_options{.id = "worker-" + std::to_string(client),
                                       .rest = chance(in.what().seed, 841).one_in(2) ? 10ms : 0ms})) {
  all.calls.forget(client);
  chance whether(in.what().seed, 840);
  if (client == 0 && whether.one_in(4)) in.later(client, whether.between(1s, 20s), [this] { quit(); });
  prepare();
}

/// Closes the session during the run. Not after the faults are over: the other workers may have stopped by then, and
/// none would take over.
void worker::quit() {
  if (in.clock().now() >= in.what().faults_until || std::exchange(stopping_, true)) return;
  close();
}

void worker::prepare() {
  operations_.start<>([this](auto token) { zk_.async_ensure_path(service::result_path, std::move(token)); },
                      [this](error_code error) { error && !stopping_ ? prepare() : run(); });
}

void worker::run() {
  if (stopping_) return;
  operations_.start<>(
      running_, [this](auto token) { coordinator_->async_run(*career_, std::move(token)); },
      [this](error_code error) { run_ended(error); });
}

void worker::run_ended(error_code error) {
  in.notes().note(client, "run ends", error == errc::career_failed ? failure_of(*coordinator_) : error.message());
  all.calls.run_ended(client);
  const bool failed = career_->has_failed();
  in.require(failed == (error == errc::career_failed), "what a career throws is told", error.message());
  const bool refused = error == errc::foreign_data && all.terms.overwritten() > 0;
  const bool ends_well = !error && (stopping_ || std::exchange(cancelled_, false));
  const bool closed = error == errc::closed && stopping_;
  in.require(failed || refused || ends_well || closed, "a run goes on until it is stopped", error.message());
  if (!stopping_) in.later(client, chance_.between(50ms, 500ms), [this] { run(); });
}

/// Cancels the run, and with it the message in hand.
void worker::cancel_run() {
  cancelled_ = true;
  running_.emit(asio::cancellation_type::terminal);
}

/// The worker believes from the beginning of a term until the term's `valid_until()`.
belief worker::believes(int) const {
  auto& here = in.inside(client);
  if (!present || here.now() >= present->valid_until()) return {};
  return {true, here.true_time(present->valid_until()), present->token()};
}

moody_career::moody_career(worker& of)
    : of_(of),
      mood_(of.in.what().seed, 820 + static_cast<std::uint64_t>(of.client)),
      more_(of.in.what().seed, 860 + static_cast<std::uint64_t>(of.client)),
      does_(of.all.is_topic
                ? std::make_unique<inner>(*this, of.all.topic_over(of.zk()).feed(0, service::group),
                                          of.all.messages.options())
                : std::make_unique<inner>(*this, queue(of.zk(), service::queue_path), of.all.messages.options())) {}

career_traits moody_career::traits() const { return of_.all.traits; }

/// Sleeps for up to `usually`, or, once in `seldom` calls, for up to `else_up_to`. Ends early if it is cancelled.
asio::awaitable<void> moody_career::takes(span usually, std::uint64_t seldom, span else_up_to) {
  const auto length = mood_.between(0ms, mood_.one_in(seldom) ? else_up_to : usually);
  auto asleep = nap(of_.in, of_.client, length);
  co_await std::move(asleep);
}

asio::awaitable<void> moody_career::perhaps_throws() {
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none || !mood_.one_in(40)) co_return;
  of_.in.notes().note(of_.client, "throws");
  failed_ = true;
  throw std::runtime_error("a mood");
}

asio::awaitable<void> moody_career::inaugurate(term present) {
  auto goes_on = of_.all.calls.begins(of_.client, present, call::inaugurate);
  of_.in.notes().note(of_.client, "inaugurates", to_string(present.how()), present.epoch());
  of_.all.terms.inaugurated(of_.client, present.epoch(), present.token());
  of_.present = present;
  work_->longest = {};
  const auto working = works();  // an inauguration can hang, too
  co_await takes(20ms, 10, 2s);
  co_await perhaps_throws();
}

asio::awaitable<void> moody_career::execute(term present) {
  auto goes_on = of_.all.calls.begins(of_.client, present, call::execute);
  work_->longest = {};
  co_await does_->execute(present);
}

/// Ends only when it is cancelled, or with its process.
asio::awaitable<void> moody_career::never_ends() {
  auto asleep = nap(of_.in, of_.client, 24h);
  co_await std::move(asleep);
}

/// A call works for as long as the returned object exists.
std::shared_ptr<void> moody_career::works() {
  const auto since = of_.now();
  work_->since.insert(since);
  return {nullptr, [log = work_, in = &of_.in, client = of_.client, since](void*) {
            log->longest = std::max(log->longest, in->inside(client).now() - since);
            log->since.erase(log->since.find(since));
          }};
}

asio::awaitable<message_outcome> moody_career::process(term present, message item) {
  auto& rules = of_.all.messages;
  const auto times = rules.begun(present, item);
  const auto what = rules.of(item.data);
  of_.in.notes().note(of_.client, "processes", item.data, item.attempts);
  const auto working = works();
  co_await takes(300ms, 30, 4s);
  if (rules.is_away()) throw std::runtime_error("the dependency is away");
  if (what == trouble::kills) {
    of_.in.crash(of_.client);
    co_await never_ends();
  }
  if (what == trouble::hangs && of_.all.traits.stall_limit.count() != 0) co_await never_ends();
  if (what == trouble::throws || (what == trouble::throws_at_first && times == 1)) throw std::runtime_error("a mood");
  if (what == trouble::asks_again && times == 1) co_return message_outcome::again(50ms, "not yet");
  if (what == trouble::holds_off && times == 1) co_return message_outcome::hold_off(100ms, "come back later");
  if (what == trouble::is_parked) co_return message_outcome::park("never");
  if (rules.options().delivery != delivery_guarantee::effectively_once) co_return message_outcome::done();
  transaction effects;
  if (what == trouble::is_refused) effects.set("/nowhere", "");
  effects.check(service::result_path);  // so that the sets of a commit are not merged: the rules count each of them
  co_return effects.set(service::result_path, std::to_string(present.epoch()) + ' ' + item.data);
}

asio::awaitable<void> moody_career::hand_over(term present, term_end reason) {
  auto goes_on = of_.all.calls.begins(of_.client, present, call::hand_over);
  of_.in.notes().note(of_.client, "hands over", to_string(reason), present.epoch());
  if (reason == term_end::stalled) check_stalled();
  co_await takes(20ms, 4, 3s);
  if (reason == term_end::lost && more_.one_in(2)) co_await takes_all_its_time();
  if (mood_.one_in(3)) co_await leaves_a_note(present);
  co_await perhaps_throws();
}

/// A leader that has lost its place may work for the hand-over deadline, until its successor may begin.
asio::awaitable<void> moody_career::takes_all_its_time() {
  auto asleep = nap(of_.in, of_.client, more_.between(0ms, traits().hand_over_deadline));
  co_await std::move(asleep);
}

/// Creates a node once per term. If the commit finds that node, it has made the node itself, and must report success.
asio::awaitable<void> moody_career::leaves_a_note(term present) {
  auto note = transaction().create(std::string(service::result_path) + "/of-" + std::to_string(present.token()));
  auto [error] = co_await present.async_commit(std::move(note), asio::as_tuple(asio::use_awaitable));
  of_.in.require(error != errc::node_exists, "a commit that was done is told so", error.message());
}

asio::awaitable<void> moody_career::ended(term present, term_end reason) {
  auto goes_on = of_.all.calls.begins(of_.client, present, call::ended);
  of_.in.notes().note(of_.client, "has ended", to_string(reason), present.epoch());
  co_await takes(20ms, 20, 500ms);
  co_await perhaps_throws();
}

/// A term ends as stalled only while a message is worked on, and not before the limit.
void moody_career::check_stalled() {
  if (!work_->since.empty()) work_->longest = std::max(work_->longest, of_.now() - *work_->since.begin());
  of_.in.require(work_->longest >= of_.all.traits.stall_limit, "who waits for work is not stalled");
}

}  // namespace

std::unique_ptr<program> make_worker(consumers& of, stage& in, int client, session with) {
  return std::make_unique<worker>(of, in, client, std::move(with));
}

}  // namespace zkrecipes::simulation
