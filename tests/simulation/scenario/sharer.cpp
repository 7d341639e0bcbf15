#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

#include "scenario/routine.hpp"
#include "scenario/shards.hpp"

namespace zkrecipes::simulation {

namespace {

class sharer;

/// The owner of one shard. Now and then its calls take long, or throw.
class shard_career final : public leader_career {
 public:
  shard_career(sharer& of, std::uint32_t shard);

  career_traits traits() const override;
  asio::awaitable<void> inaugurate(term present) override;
  asio::awaitable<void> execute(term present) override;
  asio::awaitable<void> hand_over(term present, term_end reason) override;
  asio::awaitable<void> ended(term present, term_end reason) override;

 private:
  asio::awaitable<void> takes(span usually, std::uint64_t seldom, span else_up_to);
  asio::awaitable<void> perhaps_throws();
  asio::awaitable<void> waits_for_work(term present);
  asio::awaitable<void> reads_version();
  asio::awaitable<void> commits(term present);
  asio::awaitable<void> kills(term present);
  std::shared_ptr<void> begins(const term& present, call what);
  void notes(const char* what, const term& present, std::string_view more = {});

  sharer& of_;
  std::uint32_t shard_;
  chance mood_;
  std::int32_t version_ = 0;  // of the node that it writes to
};

/// Joins the group and leaves it again, in several ways, until everything is healed.
class sharer final : public routine {
 public:
  sharer(sharing& of, stage& in, int client, session with);

  belief believes(int shard) const override;
  std::string own_node() const override;

  sharing& all;
  of_shards<term> present;
  using routine::client;
  using routine::dice;
  using routine::in;
  using routine::zk;

 private:
  asio::awaitable<void> round() override;
  asio::awaitable<void> leave() override;
  std::unique_ptr<leader_career> make(const shard& which);
  void plan_departure();
  void departs(std::uint64_t run);
  void check_end(error_code error);
  bool is_lively() { return in().clock().now() < in().what().faults_until; }

  std::unique_ptr<shard_group> group_;
  std::uint64_t runs_ = 0;
  bool is_first_ = true;
  bool has_drained_ = false;
};

sharer::sharer(sharing& of, stage& in_stage, int number, session with)
    : routine(in_stage, number, std::move(with)), all(of) {
  for (auto& each : all.calls) each.forget(number);
  begin();
}

asio::awaitable<void> sharer::round() {
  const bool is_late = std::exchange(is_first_, false) && is_lively() && dice().one_in(3);
  if (is_late) co_await rest(0ms, 15s);
  if (!group_ || dice().one_in(3)) {
    group_ = std::make_unique<shard_group>(zk(), group_paths().root, all.options_of(client()));
  }
  ++runs_;
  has_drained_ = false;
  all.has_lapsed[static_cast<std::size_t>(client())] = false;
  if (is_lively()) plan_departure();
  auto running = waits<>(
      [this](auto token) { group_->async_run([this](const shard& which) { return make(which); }, std::move(token)); });
  auto [error] = co_await std::move(running);
  ++runs_;
  const bool has_run = !stopping() || error != asio::error::operation_aborted;
  if (has_run) check_end(error);
  if (is_lively()) co_await rest(0ms, dice().one_in(3) ? 12s : 1s);
}

asio::awaitable<void> sharer::leave() {
  group_.reset();
  co_return;
}

void sharer::plan_departure() {
  if (dice().one_in(4)) return;
  const auto when = dice().between(100ms, dice().one_in(2) ? 6s : 25s);
  in().later(client(), when, [this, run = runs_] { departs(run); });
}

void sharer::departs(std::uint64_t run) {
  if (run != runs_ || !is_lively() || stopping()) return;
  const bool drains = dice().one_in(2);
  in().notes().note(client(), drains ? "drains" : "stops");
  if (drains) {
    has_drained_ = true;
    return group_->drain();
  }
  has_drained_ = false;
  group_->stop();
}

void sharer::check_end(error_code error) {
  const auto text = "client " + std::to_string(client()) + ": " + error.message();
  in().notes().note(client(), "run ends", error.message());
  in().require(!error, "a run goes on until it is stopped", text);
  for (auto& each : all.calls) each.run_ended(client());
  in().require(group_->status().shards.empty(), "who has left has nothing", text);
}

std::unique_ptr<leader_career> sharer::make(const shard& which) {
  in().require(which.count == shard_count && which.number < shard_count, "a shard is one of the group");
  if (is_lively() && dice().one_in(40)) throw std::runtime_error("no career today");
  if (is_lively() && dice().one_in(80)) return nullptr;
  return std::make_unique<shard_career>(*this, which.number);
}

/// From the beginning of a term until the term's `valid_until()`.
belief sharer::believes(int which) const {
  const auto shard = static_cast<std::size_t>(which);
  const auto& term = present[shard];
  const auto until = term.valid_until();
  auto& process = here();
  if (process.now() >= zk().valid_until()) all.has_lapsed[static_cast<std::size_t>(client())] = true;
  if (process.now() >= until || all.records.is_void(static_cast<std::uint32_t>(which), term.token())) return {};
  return {true, process.true_time(until), term.token()};
}

std::string sharer::own_node() const {
  const auto session = zk().status().session_id;
  const auto own = session == 0 ? std::vector<std::string>() : all.in.servers().committed_state().ephemerals(session);
  if (own.empty()) return {};
  return own[static_cast<std::size_t>(all.in.clock().now().count()) % own.size()];
}

shard_career::shard_career(sharer& of, std::uint32_t shard)
    : of_(of), shard_(shard), mood_(of.dice().draw(), 1040 + shard) {}

career_traits shard_career::traits() const { return of_.all.traits; }

std::shared_ptr<void> shard_career::begins(const term& present, call what) {
  return of_.all.calls[shard_].begins(of_.client(), present, what);
}

void shard_career::notes(const char* what, const term& present, std::string_view more) {
  of_.in().notes().note(of_.client(), what, detail::shard_name(shard_) + ' ' + std::string(more), present.epoch());
}

/// As `takes` of a consumer's career in the scenario "coordinator". Without moods once everything is healed: then a
/// call leaves most of the stall limit to the requests that follow, because a limit can be as short as two round trips.
asio::awaitable<void> shard_career::takes(span usually, std::uint64_t seldom, span else_up_to) {
  const bool is_seldom = mood_.one_in(seldom) && !of_.all.is_healed;
  const auto limit = of_.all.traits.stall_limit;
  const span most = is_seldom ? else_up_to : usually;
  const bool is_bounded = of_.all.is_healed && limit.count() > 0;
  auto asleep = nap(of_.in(), of_.client(), mood_.between(0ms, is_bounded ? std::min<span>(most, limit / 8) : most));
  co_await std::move(asleep);
}

asio::awaitable<void> shard_career::perhaps_throws() {
  const auto state = co_await asio::this_coro::cancellation_state;
  const bool is_cut = state.cancelled() != asio::cancellation_type::none;
  if (is_cut || !mood_.one_in(40) || of_.all.is_healed) co_return;
  of_.in().notes().note(of_.client(), "throws", detail::shard_name(shard_));
  of_.all.records.failed(shard_);
  throw std::runtime_error("a mood");
}

asio::awaitable<void> shard_career::inaugurate(term present) {
  auto goes_on = begins(present, call::inaugurate);
  notes("inaugurates", present, to_string(present.how()));
  of_.all.records.inaugurated(of_.client(), shard_, present.epoch(), present.token());
  of_.present[shard_] = present;
  co_await reads_version();
  co_await takes(20ms, 10, 2s);
  co_await perhaps_throws();
}

asio::awaitable<void> shard_career::reads_version() {
  auto path = effects_path(shard_);
  auto [error, node] = co_await of_.zk().async_get(std::move(path), asio::as_tuple(asio::use_awaitable));
  version_ = error ? -2 : node.stat.version;
}

asio::awaitable<void> shard_career::execute(term present) {
  auto goes_on = begins(present, call::execute);
  if (of_.all.killer == shard_ && !of_.all.is_healed) co_await kills(present);
  if (mood_.one_in(4)) {
    co_await waits_for_work(present);
  } else {
    co_await takes(1s, 30, 4s);
    co_await commits(present);
  }
  co_await perhaps_throws();
}

/// An owner that writes nothing does not hear that an operator has edited its record.
asio::awaitable<void> shard_career::waits_for_work(term present) {
  const auto idle = present.idle();
  if (mood_.one_in(2) && !of_.all.is_healed && !of_.all.edits_records) {
    co_await present.async_ending(asio::as_tuple(asio::use_awaitable));
  } else {
    co_await takes(2s, 10, 10s);
  }
}

asio::awaitable<void> shard_career::kills(term present) {
  co_await takes(500ms, 5, 1s);
  of_.all.records.killed(of_.client(), shard_, present.token());
  of_.in().crash(of_.client());
  auto asleep = nap(of_.in(), of_.client(), 24h);
  co_await std::move(asleep);
}

/// Writes to the shard's node, from the version that it has. Nobody else writes to it.
asio::awaitable<void> shard_career::commits(term present) {
  if (version_ == -2) co_await reads_version();
  if (version_ == -2 || present.ending()) co_return;
  const auto text = std::to_string(present.epoch()) + ' ' + std::to_string(present.token());
  auto effects = transaction().set(effects_path(shard_), text, version_);
  auto [error] = co_await present.async_commit(std::move(effects), asio::as_tuple(asio::use_awaitable));
  if (!error) ++version_;
  if (error) version_ = -2;
  const bool is_refused = error == errc::bad_version || error == errc::no_node;
  of_.in().require(!is_refused || of_.all.records.was_edited(shard_), "nobody else writes for a shard",
                   detail::shard_name(shard_) + ": " + error.message());
}

asio::awaitable<void> shard_career::hand_over(term present, term_end reason) {
  auto goes_on = begins(present, call::hand_over);
  notes("hands over", present, to_string(reason));
  co_await takes(20ms, 6, 3s);
  if (mood_.one_in(4)) co_await commits(present);
  co_await perhaps_throws();
}

asio::awaitable<void> shard_career::ended(term present, term_end reason) {
  auto goes_on = begins(present, call::ended);
  notes("has ended", present, to_string(reason));
  co_await takes(20ms, 20, 500ms);
  co_await perhaps_throws();
}

}  // namespace

std::unique_ptr<program> make_sharer(sharing& of, stage& in, int client, session with) {
  return std::make_unique<sharer>(of, in, client, std::move(with));
}

}  // namespace zkrecipes::simulation
