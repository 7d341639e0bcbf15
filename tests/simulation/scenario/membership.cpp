// All clients join a group, change their data, leave and join again, and follow a view of the group.
#include <map>
#include <optional>
#include <string>

#include <zkrecipes/membership.hpp>

#include "run/scenarios.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr const char* group_path = "/group";

std::string member_name(int client) { return "m" + std::to_string(client); }
std::string member_node(int client) { return std::string(group_path) + '/' + member_name(client); }

class member_of;

class membership_scenario final : public scenario {
 public:
  explicit membership_scenario(stage& in) : in_(in) {
    chance draw(in.what().seed, 900);
    if (!draw.one_in(2)) return;
    for (auto i = 1 + draw.below(3); i > 0; --i) {
      const auto client = static_cast<int>(draw.below(static_cast<std::uint64_t>(in.what().clients)));
      const auto begins = draw.between(in.what().faults_from, in.what().faults_until - 8s);
      const auto lasting = draw.between(100ms, 5s);
      in.clock().at(begins, [this, client] { in_.servers().replace(member_node(client)); });
      in.clock().at(begins + lasting, [this, client] { take_away(client); });
    }
  }

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override;
  void received(const connection& from, const backend::request& what) override;
  void healed() override { is_healed = true; }
  bool recovered() override;
  /// The client was told that it is a member.
  void check_joined(int client) const;
  void check_quiet(const tree& nodes) override;

  bool is_healed = false;

 private:
  member_of* running(int client) const;
  void take_away(int client);
  void check_owner(const entry& what, const change& each) const;

  stage& in_;
  std::map<std::string, std::int64_t> owners_;  // owners of the nodes, by path; 0: none (persistent)
};

class member_of final : public routine {
 public:
  member_of(membership_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), group_(with, group_path, {.wait_for_name = true}), view_(group_.watch()) {
    begin();
    follow();
  }

  /// Whether it is a member, is not leaving, and no abandoned operation of its own may still take effect.
  bool stays() const { return member_ && !leaving_ && !unclear_; }
  bool present() const { return member_ && member_->status().present && !member_->status().error; }
  std::int64_t session_id() const { return zk().status().session_id; }

  /// Whether its view of the group is what the servers have.
  bool sees_the_truth(const tree& nodes) const {
    const auto* parent = nodes.find(group_path);
    if (!parent || seen_.nodes.size() != parent->children.size()) return false;
    return std::all_of(seen_.nodes.begin(), seen_.nodes.end(), [&](const child_ptr& each) {
      const auto* there = nodes.find(std::string(group_path) + '/' + each->name);
      return there && there->stat.czxid == each->stat.czxid && there->stat.mzxid == each->stat.mzxid &&
             there->data == each->data;
    });
  }

 private:
  asio::awaitable<void> round() override {
    auto joining =
        waits<joined_member>([&](auto token) { group_.async_join(member_name(client()), "0", std::move(token)); });
    auto [error, joined] = co_await std::move(joining);
    if (error) unclear_ = true;  // its node is removed in the background
    if (error) co_return;
    member_ = std::move(joined);
    of_.check_joined(client());
    const auto changes = dice().below(3);
    for (std::uint64_t i = 0; i < changes; ++i) {
      co_await rest(0ms, 2s);
      auto updating = waits<>([&](auto token) { member_->async_update(std::to_string(i), std::move(token)); });
      co_await std::move(updating);
    }
    do {
      co_await rest(0ms, 3s);
    } while (of_.is_healed && !stopping());
    co_await give_up();
  }

  asio::awaitable<void> give_up() {
    leaving_ = true;
    if (dice().one_in(4)) {
      unclear_ = true;
    } else {
      auto leaving = does<>([&](auto token) { member_->async_leave(std::move(token)); });
      co_await std::move(leaving);
    }
    member_.reset();
    leaving_ = false;
  }

  asio::awaitable<void> leave() override {
    view_.reset();
    co_return;
  }

  void follow() {
    aside<children_change>([&](auto token) { view_->async_change(seen_, std::move(token)); },
                           [this](error_code error, children_change change) {
                             if (error) return;
                             learn(change);
                             if (!stopping()) follow();
                           });
  }

  /// Checks that the change, applied to the members seen before, gives the present members.
  void learn(const children_change& change) {
    std::map<std::string, std::int64_t> applied;
    for (const auto& each : seen_.nodes) applied[each->name] = each->stat.czxid;
    for (const auto& each : change.removed) {
      in().require(applied.erase(each->name) == 1, "differences add up", each->name + " was not there");
    }
    for (const auto& each : change.changed) {
      in().require(applied.contains(each->name), "differences add up", each->name + " is new");
    }
    for (const auto& each : change.added) {
      in().require(applied.emplace(each->name, each->stat.czxid).second, "differences add up", each->name + " twice");
    }
    std::map<std::string, std::int64_t> wanted;
    for (const auto& each : change.now.nodes) wanted[each->name] = each->stat.czxid;
    in().require(applied == wanted, "differences add up");
    seen_ = change.now;
  }

  membership_scenario& of_;
  membership group_;
  std::optional<children_view> view_;
  children_snapshot seen_;
  std::optional<joined_member> member_;
  bool leaving_ = false;
  bool unclear_ = false;
};

std::unique_ptr<program> membership_scenario::start(stage& in, int client, session with) {
  return std::make_unique<member_of>(*this, in, client, std::move(with));
}

member_of* membership_scenario::running(int client) const { return static_cast<member_of*>(in_.running(client)); }

/// Removes the operator's node, but not a member's that has replaced it. Repeated every 500 ms until it has gone,
/// because an operator can not write while there is no leader.
void membership_scenario::take_away(int client) {
  const auto* there = in_.servers().committed_state().find(member_node(client));
  if (!there || there->stat.ephemeral_owner) return;
  in_.servers().remove(member_node(client));
  in_.clock().after(500ms, [this, client] { take_away(client); });
}

/// A member writes to and removes only nodes of its own session, also if another session's node has its name.
void membership_scenario::check_owner(const entry& what, const change& each) const {
  const bool touches = each.type == change::kind::remove || each.type == change::kind::set;
  const auto whose = owners_.find(each.path);
  if (!touches || what.type != entry::kind::request || !what.session || whose == owners_.end()) return;
  in_.require(whose->second == what.session, "nobody touches what is another's", each.path);
}

/// A client must not remove its own node while it is a member.
void membership_scenario::committed(const entry& what) {
  for (const auto& each : what.changes) {
    check_owner(what, each);
    if (each.type == change::kind::create) owners_[each.path] = each.owner;
    if (each.type != change::kind::remove || what.type != entry::kind::request) continue;
    for (int i = 0; i < in_.what().clients; ++i) {
      const auto* whose = running(i);
      if (each.path != member_node(i) || !whose || what.session != whose->session_id()) continue;
      const bool own = owners_[each.path] == what.session;
      in_.require(!own || !whose->stays(), "nobody joins anew without need", each.path);
    }
  }
}

/// Nor must it try to make the node while that exists: a reconnect costs no write.
void membership_scenario::received(const connection& from, const backend::request& what) {
  if (what.op != backend::opcode::create || what.path != member_node(from.client)) return;
  const auto* whose = running(from.client);
  const bool is_present_one = in_.wire(from.client).get() == &from;
  const bool needless = whose && is_present_one && whose->stays() && whose->present();
  in_.require(!needless, "nobody joins anew without need", what.path);
}

/// A client is a member by a node of its present session, not by one that an earlier session has left.
void membership_scenario::check_joined(int client) const {
  const auto* node = in_.servers().committed_state().find(member_node(client));
  const bool gone_again = !node || !node->stat.ephemeral_owner;
  in_.require(gone_again || node->stat.ephemeral_owner == running(client)->session_id(), "a member by its own node",
              member_node(client));
}

bool membership_scenario::recovered() {
  const auto& nodes = in_.servers().committed_state();
  for (int i = 0; i < in_.what().clients; ++i) {
    const auto* each = running(i);
    const auto* own = nodes.find(member_node(i));
    const bool joined = each && each->present() && own && own->stat.ephemeral_owner == each->session_id();
    if (!joined || !each->sees_the_truth(nodes)) return false;
  }
  return true;
}

void membership_scenario::check_quiet(const tree& nodes) {
  const auto* group = nodes.find(group_path);
  if (group && !group->children.empty()) in_.fail("no node left", *group->children.begin());
}

}  // namespace

std::unique_ptr<scenario> make_membership_scenario(stage& in) { return std::make_unique<membership_scenario>(in); }

}  // namespace zkrecipes::simulation
