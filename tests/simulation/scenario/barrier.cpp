// A double barrier, and a barrier.
#include <algorithm>
#include <map>
#include <set>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/double_barrier.hpp>

#include "barrier/round_view.hpp"
#include "run/scenarios.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

// Members of a double barrier, which give up, are killed and come again.

namespace {

const std::string meeting_path = "/meeting";

std::string guid_of(const std::string& path) { return path.substr(meeting_path.size() + 4, 36); }

class attendee;

class double_barrier_scenario final : public scenario_of<double_barrier_scenario, attendee> {
 public:
  explicit double_barrier_scenario(stage& in)
      : scenario_of(in),
        size(1 + static_cast<int>(chance(in.what().seed, 700).below(3))),
        in_(in),
        operator_(in, 710) {}

  void committed(const entry& what) override {
    for (const auto& each : what.changes) {
      if (each.path == meeting_path && each.type == change::kind::set) opened(each.data);
      if (!each.path.starts_with(meeting_path + '/')) continue;
      if (each.type == change::kind::remove) present_.erase(each.path);
      if (each.type != change::kind::create) continue;
      present_.insert(each.path);
      operator_.perhaps_remove_unheard(12, each, 400ms);
    }
  }
  void check_quiet(const tree& nodes) override {
    const node* barrier = nodes.find(meeting_path);
    if (barrier && !barrier->children.empty()) in_.fail("no node left", *barrier->children.begin());
  }

  void entered(const attendance& who) {
    const auto& nodes = rounds_[who.round()];
    // If a create whose reply was lost is executed late, a member has two nodes. A round may name the other one while
    // that exists.
    const bool is_named = std::ranges::any_of(nodes, [&](const std::string& each) {
      return each == who.path() || (guid_of(each) == guid_of(who.path()) && present_.contains(each));
    });
    in_.require(is_named, "who is in is a member", who.path());
    in_.require(told_.insert(who.path()).second, "told once", who.path());
  }
  void left(const attendance& who) {
    for (const auto& each : rounds_[who.round()]) {
      in_.require(!present_.contains(each), "nobody is out before all are", each);
    }
  }

  int size;

 private:
  void opened(const std::string& data) {
    const auto record = detail::parse_round(data);
    in_.require(record.has_value(), "the record can be read", data);
    in_.require(record->round == static_cast<std::int64_t>(rounds_.size()) + 1, "one round after the other", data);
    const std::set<std::string> different(record->members.begin(), record->members.end());
    in_.require(different.size() == static_cast<std::size_t>(size), "as many as there are places", data);
    in_.require(record->places.size() == different.size(), "a member is one node", data);
    std::vector<std::string> nodes;
    for (std::size_t i = 0; i < record->places.size(); ++i) {
      nodes.push_back(node_of(record->members[i], record->places[i]));
    }
    for (const auto& each : nodes) in_.require(present_.contains(each), "nobody is in before all are", each);
    for (const auto& each : rounds_[record->round - 1]) {
      in_.require(!present_.contains(each), "the last round is over", each);
    }
    rounds_.erase(0);
    rounds_[record->round] = nodes;
    operator_.perhaps_remove(6, {nodes[static_cast<std::size_t>(record->round) % nodes.size()]}, 300ms);
  }
  std::string node_of(const std::string& guid, std::int32_t place) const {
    const auto digits = std::to_string(place);
    const auto name = detail::protected_name(guid, detail::round_marker(size));
    return meeting_path + '/' + name + std::string(10 - digits.size(), '0') + digits;
  }

  stage& in_;
  meddler operator_;
  std::set<std::string> present_;                            ///< Present nodes of members.
  std::map<std::int64_t, std::vector<std::string>> rounds_;  ///< For each round the nodes of its members.
  std::set<std::string> told_;
};

class attendee final : public routine {
 public:
  attendee(double_barrier_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), barrier_(with, meeting_path, of.size, {.id = "client"}) {}

 private:
  asio::awaitable<void> round() override {
    const lease_clock::duration budget = dice().one_in(3) ? dice().between(0ms, 3s) : lease_clock::duration::max();
    auto entering = waits<attendance>([&](auto token) { barrier_.async_enter_for(budget, std::move(token)); });
    auto [error, inside] = co_await std::move(entering);
    if (error) {
      in().require(error != errc::size_mismatch && error != errc::foreign_data, "all want the same", error.message());
      co_return;
    }
    of_.entered(inside);
    of_.done.note(client());
    if (dice().one_in(2)) co_await rest(0ms, 1s);
    if (dice().one_in(6)) co_return;  // the destructor leaves
    const lease_clock::duration time_limit = dice().one_in(3) ? dice().between(0ms, 3s) : lease_clock::duration::max();
    auto leaving =
        waits<>([&, &entered = inside](auto token) { entered.async_leave_for(time_limit, std::move(token)); });
    auto [how] = co_await std::move(leaving);
    if (!how) of_.left(inside);
  }

  double_barrier_scenario& of_;
  double_barrier barrier_;
};

}  // namespace

std::unique_ptr<scenario> make_double_barrier_scenario(stage& in) {
  return std::make_unique<double_barrier_scenario>(in);
}

// One client raises and lifts a barrier. The others wait at it, and now and then raise or lift it.

namespace {

constexpr const char* barrier_path = "/gate";

class passer;

class barrier_scenario final : public scenario_of<barrier_scenario, passer> {
 public:
  explicit barrier_scenario(stage& in) : scenario_of(in), operator_(in, 740) {}

  void committed(const entry& what) override {
    for (const auto& each : what.changes) {
      if (each.path != barrier_path) continue;
      if (each.type == change::kind::create) {
        raises[what.zxid] = lifts, stands = true;
        operator_.perhaps_remove(4, {barrier_path}, 500ms);
      }
      if (each.type == change::kind::remove) ++lifts, stands = false;
    }
  }
  void check_quiet(const tree&) override {}

  bool stands = false;
  std::uint64_t lifts = 0;
  std::map<std::int64_t, std::uint64_t> raises;  ///< For each raise, by its zxid, the number of lifts before it.

 private:
  meddler operator_;
};

class passer final : public routine {
 public:
  passer(barrier_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), barrier_(with, barrier_path) {}

 private:
  /// Client 0 only raises and lifts the barrier, so that no client waits for ever.
  asio::awaitable<void> round() override {
    const bool keeps = client() == 0;
    if (keeps ? dice().one_in(2) : dice().one_in(6)) {
      co_await raise();
    } else if (keeps || dice().one_in(6)) {
      co_await lift();
    } else {
      co_await wait();
    }
  }

  asio::awaitable<void> raise() {
    const auto lifts_before = of_.lifts;
    auto raising = waits<std::int64_t>([&](auto token) { barrier_.async_raise(std::move(token)); });
    auto [error, number] = co_await std::move(raising);
    if (error) co_return;
    in().require(of_.raises.contains(number), "a raise has a number", std::to_string(number));
    in().require(of_.raises[number] >= lifts_before, "it is raised once that is said", std::to_string(number));
  }

  asio::awaitable<void> lift() {
    const bool stood = of_.stands;
    const auto lifts_before = of_.lifts;
    auto lifting = waits<>([&](auto token) { barrier_.async_lift(std::move(token)); });
    auto [error] = co_await std::move(lifting);
    if (error) co_return;
    of_.done.note(client());
    in().require(!stood || of_.lifts > lifts_before, "it is lifted once that is said");
  }

  asio::awaitable<void> wait() {
    const bool stood = of_.stands;
    const auto lifts_before = of_.lifts;
    const lease_clock::duration budget = dice().one_in(3) ? dice().between(0ms, 3s) : lease_clock::duration::max();
    auto waiting = waits<>([&](auto token) { barrier_.async_wait_for(budget, std::move(token)); });
    auto [error] = co_await std::move(waiting);
    if (error) co_return;
    of_.done.note(client());
    in().require(!stood || of_.lifts > lifts_before, "nobody goes through a barrier that is not lifted");
  }

  barrier_scenario& of_;
  barrier barrier_;
};

}  // namespace

std::unique_ptr<scenario> make_barrier_scenario(stage& in) { return std::make_unique<barrier_scenario>(in); }

}  // namespace zkrecipes::simulation
