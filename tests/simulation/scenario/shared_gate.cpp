// The clients consume messages of a broker whose keys are not partitioned, behind one gate. The effects of a processing
// and the end of its pass are one transaction.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/flow/shared_gate.hpp>

#include "line/line_spec.hpp"
#include "run/scenarios.hpp"
#include "run/stage.hpp"
#include "scenario/routine.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

/// Hands messages out, to any consumer, and hands out again those whose consumer died, gave them back, or lost its
/// connection to the broker. The rule: a message that was settled unprocessed is covered by another one of its key,
/// which is not settled, and not in a processing that began before the declined call. So a later processing is sure.
class gate_broker {
 public:
  static constexpr std::uint64_t keys = 2;
  using stamp = std::int64_t;  ///< The order of all that happens.

  struct delivery {
    int message = 0;
    int number = 0;  ///< The number of this delivery: a later one takes the message from this consumer.
    std::uint64_t key = 0;
    arrival how = arrival::first;
    stamp called = 0;
    stamp begun = 0;
  };

  gate_broker(stage& in, std::uint64_t stream) : in_(in), chance_(in.what().seed, stream) {}

  delivery take(int client);
  void begins(delivery& which);
  void settle_declined(const delivery& which);
  /// A node stands, since now or until now, that was made too late, by a process that is dead or by a call that was
  /// cancelled: its message may be in a processing that has begun, or be settled. This is the limit of the promise, so
  /// nothing is owed for calls that were made before and are declined later.
  void excuse() { excused_ = ++last_; }
  void settle_done(const delivery& which) { settle(which); }
  void give_back(const delivery& which);
  /// The process of this client has died.
  void lose(int client);
  /// The effects of a processing were committed.
  void processed(std::uint64_t key, stamp begun);
  /// All faults are over. The processings that are owed now have to be done within the bound of the run.
  void healed() { healed_ = last_; }
  bool has_paid() const;

 private:
  static constexpr int nobody = -1;
  struct message {
    std::uint64_t key = 0;
    int deliveries = 0;
    int consumer = nobody;
    stamp begun = 0;  // of the present delivery; 0: it waits
  };
  bool is_present(const delivery& which) const;
  bool settle(const delivery& which);
  void check_covered(std::uint64_t key) const;
  int pick();

  stage& in_;
  chance chance_;
  stamp last_ = 0;
  stamp healed_ = 0;
  stamp excused_ = 0;
  int made_ = 0;
  std::map<int, message> unsettled_;
  std::array<stamp, keys> processed_{};       // the latest begin of one whose effects were committed
  std::multimap<std::uint64_t, stamp> owed_;  // by key: when the declined calls were made
};

gate_broker::delivery gate_broker::take(int client) {
  const auto number = pick();
  auto& one = unsettled_[number];
  one.consumer = client;
  one.begun = 0;
  ++one.deliveries;
  const auto how = one.deliveries == 1 ? arrival::first : arrival::redelivered;
  return {number, one.deliveries, one.key, how, ++last_, 0};
}

/// A message that was given back, or a new one; once in a while one that its consumer is processing. Not one whose
/// consumer has yet to get in line: if that comes late, its node stands for a message that is settled.
int gate_broker::pick() {
  std::vector<int> back;
  std::vector<int> out;
  for (const auto& [number, each] : unsettled_) {
    if (each.consumer == nobody) back.push_back(number);
    if (each.begun != 0) out.push_back(number);
  }
  if (!out.empty() && chance_.one_in(12)) return out[chance_.below(out.size())];
  if (!back.empty() && chance_.one_in(2)) return back[chance_.below(back.size())];
  unsettled_[++made_].key = chance_.one_in(4) ? 1 : 0;
  return made_;
}

bool gate_broker::is_present(const delivery& which) const {
  const auto found = unsettled_.find(which.message);
  return found != unsettled_.end() && found->second.deliveries == which.number;
}

void gate_broker::begins(delivery& which) {
  which.begun = ++last_;
  if (is_present(which)) unsettled_[which.message].begun = which.begun;
}

void gate_broker::settle_declined(const delivery& which) {
  if (!is_present(which)) return;
  if (processed_[which.key] < which.called && excused_ < which.called) owed_.emplace(which.key, which.called);
  settle(which);
}

void gate_broker::give_back(const delivery& which) {
  if (!is_present(which)) return;
  auto& one = unsettled_[which.message];
  one.consumer = nobody;
  one.begun = 0;
}

void gate_broker::lose(int client) {
  for (auto& [number, each] : unsettled_) {
    if (each.consumer == client) each.consumer = nobody, each.begun = 0;
  }
}

bool gate_broker::settle(const delivery& which) {
  if (!is_present(which)) return false;
  unsettled_.erase(which.message);
  check_covered(which.key);
  return true;
}

void gate_broker::processed(std::uint64_t key, stamp begun) {
  processed_[key] = std::max(processed_[key], begun);
  std::erase_if(owed_, [&](const auto& each) { return each.first == key && each.second < begun; });
}

bool gate_broker::has_paid() const {
  return std::ranges::none_of(owed_, [this](const auto& each) { return each.second <= healed_; });
}

void gate_broker::check_covered(std::uint64_t key) const {
  const auto [first, last] = owed_.equal_range(key);
  for (auto each = first; each != last; ++each) {
    const auto covers = [&](const auto& one) {
      const auto& [number, what] = one;
      return what.key == key && (what.begun == 0 || what.begun > each->second);
    };
    in_.require(std::ranges::any_of(unsettled_, covers), "a declined message is processed later",
                "key " + std::to_string(key) + ", call " + std::to_string(each->second));
  }
}

namespace {

constexpr const char* gate_path = "/gate";
const std::string bucket_path = "/gate/0";
const std::string effects = "/done-";
constexpr std::string_view gate_markers[] = {"-gate-"};
constexpr span safety = 3s;

/// The part of a name that tells the key.
std::string hash_of(std::string_view name) {
  const auto end = std::min(name.rfind("-first-gate-"), name.rfind("-again-gate-"));
  return end == name.npos || end < 32 ? std::string() : std::string(name.substr(end - 32, 32));
}
bool is_first(std::string_view name) { return name.rfind("-first-gate-") != name.npos; }

class consumer;

class gate_scenario final : public scenario_of<gate_scenario, consumer> {
 public:
  explicit gate_scenario(stage& in) : scenario_of(in), broker(in, 760), in_(in) {}

  void healed() override {
    done.forget();
    broker.healed();
  }
  bool recovered() override { return done.everybody() && broker.has_paid(); }

  void committed(const entry& what) override {
    std::string left;
    for (const auto& each : what.changes) {
      if (parent_path(each.path) == bucket_path) record_late(each);
      if (each.type == change::kind::remove && parent_path(each.path) == bucket_path) left = each.path;
      if (each.type == change::kind::create && each.path.starts_with(effects)) check_effects(each.data, left);
    }
  }
  /// One that looks at its predecessor is going to wait.
  void received(const connection& from, const backend::request& what) override {
    if (!what.watch || parent_path(what.path) != bucket_path) return;
    const auto hash = hash_of(what.path);
    const auto all = members(hash);
    const auto* nodes = &in_.servers().committed_state();
    std::size_t own = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (nodes->find(bucket_path + '/' + all[i])->stat.ephemeral_owner == from.key.id) own = i;
    }
    if (own == all.size() || own == 0 || bucket_path + '/' + all[own - 1] != what.path || !is_first(all[own])) return;
    for (std::size_t i = 1; i < own; ++i) in_.require(!is_first(all[i]), "one waits at most", all[i] + ", " + all[own]);
  }
  void check_quiet(const tree& nodes) override {
    const node* bucket = nodes.find(bucket_path);
    if (bucket && !bucket->children.empty()) in_.fail("no node left", *bucket->children.begin());
  }

  void declined(const gate_broker::delivery& which) {
    if (!late_.empty()) broker.excuse();
    broker.settle_declined(which);
  }
  void died(int client, std::int64_t session) {
    dead_.insert(session);
    broker.lose(client);
  }
  /// A client begins to enter, and ends that without a pass. What it has asked for may be executed later.
  void enters(std::int64_t session) { has_node_.erase(session); }
  void gives_up(std::int64_t session) {
    if (!has_node_.contains(session)) ++on_the_way_[session];
  }
  void granted(std::uint64_t key, const std::string& path) {
    const auto name = path.substr(bucket_path.size() + 1);
    const auto all = members(hash_of(name));
    if (std::ranges::find(all, name) == all.end()) return;  // removed meanwhile, for example with its session
    in_.require(all.front() == name, "the first in line gets in", name);
    last_[key] = path;
  }

  gate_broker broker;

 private:
  void record_late(const change& what) {
    const bool is_made = what.type == change::kind::create;
    const bool is_of_earlier = is_made && on_the_way_[what.owner] > 0;
    if (is_of_earlier) --on_the_way_[what.owner];
    if (is_made && !is_of_earlier) has_node_.insert(what.owner);
    const bool is_late = is_made && (dead_.contains(what.owner) || is_of_earlier);
    if (is_late && is_first(what.path)) {
      late_.insert(what.path);
    } else if (what.type == change::kind::remove && late_.erase(what.path) > 0) {
      broker.excuse();
    }
  }
  void check_effects(const std::string& data, const std::string& left) {
    std::istringstream from(data);
    std::uint64_t key = 0;
    gate_broker::stamp begun = 0;
    from >> key >> begun;
    in_.require(last_[key] == left, "only the last to get in commits", left);
    broker.processed(key, begun);
  }
  /// The committed nodes of a key, in order.
  std::vector<std::string> members(const std::string& hash) const {
    std::vector<std::string> found;
    const node* bucket = in_.servers().committed_state().find(bucket_path);
    if (!bucket) return found;
    const std::vector<std::string> names(bucket->children.begin(), bucket->children.end());
    for (const auto& each : detail::members_of(names, gate_markers)) {
      if (hash_of(each.name) == hash) found.push_back(each.name);
    }
    return found;
  }

  stage& in_;
  std::set<std::int64_t> dead_;                      // the last sessions of processes that were killed
  std::set<std::int64_t> has_node_;                  // sessions whose present call has made its node
  std::map<std::int64_t, int> on_the_way_;           // by session: calls that were cancelled, or failed, before that
  std::set<std::string> late_;                       // nodes that were asked for by either, and that stand now
  std::array<std::string, gate_broker::keys> last_;  // the last that got in, by key
};

class consumer final : public routine {
 public:
  consumer(gate_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), gate_(zk(), gate_path, {.id = "client", .buckets = 1, .safety = safety}) {}
  ~consumer() override { of_.died(client(), zk().status().session_id); }

  belief believes(int) const override {
    if (!processes_ || key_ != 0 || pass_.error() || here().now() >= pass_.valid_until()) return {};
    return {true, here().true_time(pass_.valid_until()), pass_.token()};
  }

 private:
  asio::awaitable<void> round() override {
    auto got = of_.broker.take(client());
    const auto key = "key-" + std::to_string(got.key);
    const auto session = zk().status().session_id;
    of_.enters(session);
    auto entering = waits<shared_gate_pass>([&](auto token) { gate_.async_enter(key, got.how, std::move(token)); });
    auto [error, pass] = co_await std::move(entering);
    if (error == errc::declined) {
      in().require(got.how == arrival::first, "a redelivered message is not declined");
      of_.declined(got);
      of_.done.note(client());
    } else if (error) {
      of_.gives_up(session);
      of_.broker.give_back(got);
    } else {
      of_.broker.begins(got);
      of_.granted(got.key, pass.path());
      key_ = got.key;
      pass_ = std::move(pass);
      processes_ = true;
      auto processing = process(got);
      co_await std::move(processing);
      pass_ = shared_gate_pass();
    }
  }

  asio::awaitable<void> process(gate_broker::delivery which) {
    const span longest = dice().one_in(8) ? 2 * safety : 600ms;
    co_await rest(0ms, longest);
    processes_ = false;
    if (dice().one_in(6)) {
      of_.broker.give_back(which);  // it has failed
      if (dice().one_in(2)) co_return;
      auto leaving = does<>([&](auto token) { pass_.async_leave(std::move(token)); });
      co_await std::move(leaving);
      co_return;
    }
    const auto data = std::to_string(which.key) + ' ' + std::to_string(which.begun);
    const auto all = pass_.leaving(transaction().create(effects, data, create_mode::persistent_sequential));
    auto committing =
        does<std::vector<operation_result>>([&](auto token) { zk().async_commit(all, std::move(token)); });
    auto [error, results] = co_await std::move(committing);
    if (error) co_return of_.broker.give_back(which);
    of_.broker.settle_done(which);
    of_.done.note(client());
  }

  gate_scenario& of_;
  shared_gate gate_;
  shared_gate_pass pass_;
  std::uint64_t key_ = 0;   // of the pass
  bool processes_ = false;  // until the end of the pass is sent
};

}  // namespace

std::unique_ptr<scenario> make_gate_scenario(stage& in) { return std::make_unique<gate_scenario>(in); }

}  // namespace zkrecipes::simulation
