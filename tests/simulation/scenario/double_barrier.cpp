// Members of a double barrier, who give up, die and come again.
#include "scenario/recipes.hpp"
#include "scenario/routine.hpp"

#include "barrier/meeting.hpp"

#include <zkrecipes/double_barrier.hpp>

#include <map>
#include <set>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

const std::string meeting_path = "/meeting";

std::string guid_of(const std::string& path) { return path.substr(meeting_path.size() + 4, 36); }

class double_barrier_scenario final : public scenario {
 public:
  explicit double_barrier_scenario(stage& in)
      : done(in), size(1 + static_cast<int>(chance(in.what().seed, 700).below(3))), in_(in) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override {
    for (const auto& each : what.changes) {
      if (each.path == meeting_path && each.type == change::kind::set) opened(each.data);
      if (!each.path.starts_with(meeting_path + '/')) continue;
      if (each.type == change::kind::create) ++present_[guid_of(each.path)];
      if (each.type == change::kind::remove) --present_[guid_of(each.path)];
    }
  }
  void healed() override { done.forget(); }
  bool recovered() override { return done.everybody(); }
  void check_quiet(const tree& nodes) override {
    const node* meeting = nodes.find(meeting_path);
    if (meeting && !meeting->children.empty()) in_.fail("no node left", *meeting->children.begin());
  }

  void entered(const attendance& who) {
    const auto guid = guid_of(who.path());
    in_.require(rounds_.contains(who.round()) && rounds_[who.round()].names(guid), "who is in is a member", guid);
    in_.require(told_.insert(guid).second, "told once", guid);
  }
  void left(const attendance& who) {
    for (const auto& each : rounds_[who.round()].members) {
      in_.require(present_[each] == 0, "nobody is out before all are", each);
    }
  }

  progress done;
  int size;

 private:
  void opened(const std::string& data) {
    const auto record = detail::parse_round(data);
    in_.require(record.has_value(), "the record can be read", data);
    in_.require(record->round == static_cast<std::int64_t>(rounds_.size()) + 1, "one round after the other", data);
    const std::set<std::string> different(record->members.begin(), record->members.end());
    in_.require(different.size() == static_cast<std::size_t>(size), "as many as there are places", data);
    for (const auto& each : different) in_.require(present_[each] > 0, "nobody is in before all are", each);
    for (const auto& each : rounds_[record->round - 1].members) {
      in_.require(present_[each] == 0, "the last round is over", each);
    }
    rounds_.erase(0);
    rounds_[record->round] = *record;
  }

  stage& in_;
  std::map<std::string, int> present_;  ///< Nodes by GUID.
  std::map<std::int64_t, detail::round_record> rounds_;
  std::set<std::string> told_;
};

class attendee final : public routine {
 public:
  attendee(double_barrier_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), barrier_(with, meeting_path, of.size, {.id = "client"}) {
    begin();
  }

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
    if (dice().one_in(6)) co_return;  // left by the destructor
    const lease_clock::duration patience = dice().one_in(3) ? dice().between(0ms, 3s) : lease_clock::duration::max();
    auto leaving = waits<>([&](auto token) { inside.async_leave_for(patience, std::move(token)); });
    auto [how] = co_await std::move(leaving);
    if (!how) of_.left(inside);
  }

  double_barrier_scenario& of_;
  double_barrier barrier_;
};

std::unique_ptr<program> double_barrier_scenario::start(stage& in, int client, session with) {
  return std::make_unique<attendee>(*this, in, client, std::move(with));
}

}  // namespace

std::unique_ptr<scenario> make_double_barrier_scenario(stage& in) {
  return std::make_unique<double_barrier_scenario>(in);
}

}  // namespace zkrecipes::simulation
