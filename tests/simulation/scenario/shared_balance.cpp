// All clients take part in a balance: they join and leave, move fast and slowly, and operators remove nodes.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/pacer.hpp"
#include "run/scenarios.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::uint64_t pace_range = 8;
const std::string pace_path = "/pace";
const std::string limit_path = pace_path + "/limit";
const std::string members_path = pace_path + "/members";

class walker;

class pace_scenario final : public scenario_of<pace_scenario, walker> {
 public:
  explicit pace_scenario(stage& in) : scenario_of(in), in_(in), chance_(in.what().seed, 950) {
    if (chance_.one_in(4)) {
      const auto when = chance_.between(in.what().faults_from, in.what().faults_until - 10s);
      in.clock().at(when, [this] { remove_all(); });
    }
  }

  void committed(const entry& what) override;
  void check_quiet(const tree& nodes) override;
  /// The steps of no two live tracks differ by more than the range.
  void check_spread();
  bool is_member(std::int64_t session) const;

  bool is_meddled_with = false;

 private:
  void check_limit(const entry& what, const change& each);
  void record_member(const change& each);
  void remove_all();
  void remove_the_rest();

  struct member {
    std::int64_t owner = 0;
    std::optional<std::int64_t> floor{};
  };
  stage& in_;
  chance chance_;
  std::optional<std::int64_t> limit_;
  std::map<std::string, member> members_;  // by path
};

class walker final : public routine {
 public:
  walker(pace_scenario& of, stage& in, int client, session with)
      : routine(in, client, std::move(with)), of_(of), stage_(in) {}

  /// The lowest and the highest of its tracks, if they are live: the process is a member, its node stands, and its
  /// lease lasts.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> live_steps() const {
    if (!pace_ || tracks_.empty()) return std::nullopt;
    const auto seen = pace_->status();
    const bool is_live = seen.is_member && here().true_time(seen.valid_until) > stage_.clock().now();
    if (!is_live || !of_.is_member(session_id())) return std::nullopt;
    auto lowest = ~std::uint64_t{0};
    std::uint64_t highest = 0;
    for (const auto& each : seen.tracks) {
      lowest = std::min(lowest, each.steps);
      highest = std::max(highest, each.steps);
    }
    if (seen.tracks.empty()) return std::nullopt;
    return std::pair(lowest, highest);
  }
  std::string own_node() const override {
    const auto own = stage_.servers().committed_state().ephemerals(zk().status().session_id);
    return own.empty() ? std::string() : own.front();
  }
  std::int64_t session_id() const { return zk().status().session_id; }

 private:
  asio::awaitable<void> round() override {
    if (!pace_ || dice().one_in(3)) {
      tracks_.clear();
      pace_ = std::make_unique<shared_balance>(
          zk(), pace_path, shared_balance_options{.id = "w" + std::to_string(client()), .range = pace_range});
    }
    ++runs_;
    if (is_lively() && !dice().one_in(3)) {
      in().later(client(), dice().between(200ms, 15s), [this, run = runs_] {
        if (run == runs_) pace_->stop();
      });
    }
    slowness_ = dice().one_in(2) ? 3ms : 60ms;
    auto running = waits<>([this](auto token) {
      pace_->async_run(std::move(token));
      begin_tracks();
    });
    auto [error] = co_await std::move(running);
    ++runs_;
    const bool is_by_operator = of_.is_meddled_with && error == errc::no_node;
    const bool is_cut = error == asio::error::operation_aborted;
    in().require(!error || is_by_operator || is_cut, "a run goes on until it is stopped", error.message());
    if (is_by_operator) co_await rest(1s, 2s);
  }
  asio::awaitable<void> leave() override {
    tracks_.clear();
    pace_.reset();
    co_return;
  }

  void begin_tracks() {
    const auto wanted = 1 + dice().below(2);
    std::erase(tracks_, nullptr);
    while (tracks_.size() > wanted) tracks_.pop_back();
    while (tracks_.size() < wanted) tracks_.push_back(std::make_unique<shared_balance_track>(pace_->track("t")));
    for (std::size_t i = 0; i < tracks_.size(); ++i) step(i, runs_);
  }
  void step(std::size_t which, std::uint64_t run) {
    if (run != runs_ || stopping() || which >= tracks_.size()) return;
    const bool leaves = which > 0 && is_lively() && dice().one_in(60);
    if (leaves) return tracks_[which].reset();
    if (tracks_[which]->try_move()) {
      in().require(here().now() < pace_->status().valid_until, "a step needs the lease", std::to_string(client()));
      return made_step(which, run);
    }
    aside<>([&](auto token) { tracks_[which]->async_move(std::move(token)); },
            [this, which, run](error_code error) {
              if (!error) made_step(which, run);
            });
  }
  void made_step(std::size_t which, std::uint64_t run) {
    of_.check_spread();
    if (++steps_ % 12 == 0) of_.done.note(client());
    in().later(client(), dice().between(0ms, slowness_), [this, which, run] { step(which, run); });
  }
  bool is_lively() { return in().clock().now() < in().what().faults_until; }

  pace_scenario& of_;
  stage& stage_;
  std::unique_ptr<shared_balance> pace_;
  std::vector<std::unique_ptr<shared_balance_track>> tracks_;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  span slowness_{0};
};

void pace_scenario::check_spread() {
  auto lowest = ~std::uint64_t{0};
  std::uint64_t highest = 0;
  for (int i = 0; i < in_.what().clients; ++i) {
    const auto* each = static_cast<walker*>(in_.running(i));
    const auto steps = each ? each->live_steps() : std::nullopt;
    if (!steps) continue;
    lowest = std::min(lowest, steps->first);
    highest = std::max(highest, steps->second);
  }
  const bool is_within = highest <= lowest || highest - lowest <= pace_range;
  in_.require(is_within, "the spread is within the range", std::to_string(lowest) + " and " + std::to_string(highest));
}

void pace_scenario::committed(const entry& what) {
  for (const auto& each : what.changes) {
    if (each.path == limit_path) check_limit(what, each);
    if (each.path.starts_with(members_path + '/')) record_member(each);
  }
  check_spread();
}

/// A limit counts the floor of each member whose node stands, and stays while one of them has told none. The writer's
/// own node may tell a floor that is too low.
void pace_scenario::check_limit(const entry& what, const change& each) {
  if (each.type == change::kind::remove) return limit_.reset();
  const auto record = detail::parse_limit_record(each.data);
  if (!record) return;
  const bool is_raised = limit_ && record->limit > *limit_;
  in_.require(!limit_ || record->limit >= *limit_, "the limit never falls", std::to_string(record->limit));
  limit_ = record->limit;
  if (!is_raised) return;
  for (const auto& [path, one] : members_) {
    if (one.owner == what.session) continue;
    in_.require(one.floor && record->limit <= *one.floor + record->range, "a limit counts all members",
                path + " at " + std::to_string(record->limit));
  }
}

void pace_scenario::record_member(const change& each) {
  if (each.type == change::kind::remove) {
    members_.erase(each.path);
    return;
  }
  if (each.type == change::kind::create) members_[each.path].owner = each.owner;
  const auto told = detail::parse_pace_member_record(each.data);
  if (told) members_[each.path].floor = told->floor;
}

bool pace_scenario::is_member(std::int64_t session) const {
  return std::ranges::any_of(members_, [&](const auto& each) { return each.second.owner == session; });
}

/// An operator removes the whole path.
void pace_scenario::remove_all() {
  is_meddled_with = true;
  const auto& nodes = in_.servers().committed_state();
  const auto* members = nodes.find(members_path);
  if (members) {
    const auto names = members->children;
    for (const auto& each : names) in_.servers().remove(members_path + '/' + each);
  }
  for (const auto& each : {limit_path, members_path, pace_path}) in_.servers().remove(each);
  remove_the_rest();
}

/// It is repeated if a part was left: members come back in between, and a leader that is deposed does some of it, late.
void pace_scenario::remove_the_rest() {
  in_.clock().after(500ms, [this] {
    const auto& now = in_.servers().committed_state();
    if (now.find(members_path) && !now.find(limit_path)) return remove_all();
    if (in_.clock().now() < in_.what().faults_until + 5s) remove_the_rest();
  });
}

void pace_scenario::check_quiet(const tree& nodes) {
  const auto* members = nodes.find(members_path);
  if (members && !members->children.empty()) in_.fail("no node left", *members->children.begin());
}

}  // namespace

std::unique_ptr<scenario> make_pace_scenario(stage& in) { return std::make_unique<pace_scenario>(in); }

}  // namespace zkrecipes::simulation
