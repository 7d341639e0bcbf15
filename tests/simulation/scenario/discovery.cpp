// Each client registers an instance of its own at one service and, if it can, an instance that all want at another
// service. It changes their descriptions, unregisters and registers again. It follows the first service, and picks
// instances of the second one.
#include <map>
#include <optional>
#include <set>
#include <string>

#include <zkrecipes/service_provider.hpp>

#include "run/scenarios.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

inline constexpr const char* services_path = "/services";
inline constexpr const char* own_service = "own";
inline constexpr const char* shared_service = "shared";

inline std::string path_of(const std::string& service) { return std::string(services_path) + '/' + service; }

/// An instance, as the process knows it.
struct desk {
  service_instance said;                     ///< The latest description.
  std::string text;                          ///< The data that its node should have.
  std::string path;                          ///< The path of its node.
  std::optional<service_registration> held;  ///< Set while it is registered.
  bool wanted = false;                       ///< A registration was asked for, and not given back.
  bool steady = false;                       ///< The last operation succeeded, and none has been started since.

  void describe() { text = *to_json(said), path = path_of(said.name) + '/' + said.id; }
  bool is_static() const { return said.type == service_type::static_node; }
  bool present() const { return held && held->status().present && !held->status().error; }
};

class attendant;

/// The rules of the scenario.
class discovery_scenario final : public scenario {
 public:
  explicit discovery_scenario(stage& in);

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override;
  void received(const connection& from, const backend::request& what) override;
  void healed() override { is_healed = true; }
  bool recovered() override;
  void check_quiet(const tree& nodes) override;

  /// The instance id to use. It changes (`use_another_id`) when an abandoned operation on the present one may take
  /// effect late.
  std::string id_of(const std::string& who) { return who + '-' + std::to_string(turns_[who]); }
  void use_another_id(const std::string& who) { ++turns_[who]; }
  void check_said(const attendant& whose, const desk& which) const;
  void check_gone(const attendant& whose, const desk& which) const;
  void check_chosen(const service_instance& which, const std::string& text) const;
  bool is_enabled(const std::string& text) const { return descriptions_.at(text); }

  bool is_healed = false;
  const bool has_static;  ///< The clients' own instances are static: they do not end with the session.

 private:
  attendant* running(int client) const;
  const attendant* of_session(std::int64_t session) const;
  void created(const change& what, std::int64_t session);
  void removed(const std::string& path, std::int64_t session) const;

  stage& in_;
  std::map<std::string, std::int64_t> owners_;  // owners of the latest nodes, by path; 0: static
  std::map<std::string, bool> descriptions_;    // all descriptions ever written: whether enabled
  std::map<std::string, int> turns_;
};

/// The process of one client.
class attendant final : public routine {
 public:
  attendant(discovery_scenario& of, stage& in, int client, session with);

  /// An operator removes only a node that no other client wants. Otherwise another client could make the node anew, and
  /// a write can not be made conditional on the node being ours.
  std::string own_node() const override { return own_.held ? own_.path : std::string(); }
  std::int64_t session_id() const { return zk().status().session_id; }

  /// The instance that the process wants at this path; null if there is none.
  const desk* at(const std::string& path) const {
    for (const auto* each : {&own_, &shared_}) {
      if (each->wanted && each->path == path) return each;
    }
    return nullptr;
  }
  /// Whether the node `there`, at the path of `which`, is ours: of this session, or static.
  bool is_of(const desk& which, const node& there) const {
    return there.stat.ephemeral_owner == (which.is_static() ? 0 : session_id());
  }
  bool is_unclear(const std::string& path) const { return unclear_.contains(path); }

  bool stands(const tree& nodes) const {
    return own_.held && stands(own_, nodes) && (!shared_.held || stands(shared_, nodes) || is_taken(nodes));
  }
  bool sees_the_truth(const tree& nodes) const;
  bool chooses_the_truth(const tree& nodes) const;

 private:
  asio::awaitable<void> round() override;
  asio::awaitable<void> enrol(desk& at, std::string service, std::string who);
  asio::awaitable<void> change(desk& at);
  asio::awaitable<void> withdraw(desk& at, std::string who);
  asio::awaitable<void> choose();
  asio::awaitable<void> leave() override {
    view_.reset();
    provider_.reset();
    co_return;
  }
  void follow();
  void learn(const service_change& change);
  std::string name() const { return "i" + std::to_string(client()); }

  bool stands(const desk& which, const tree& nodes) const {
    const auto* there = nodes.find(which.path);
    return which.present() && there && is_of(which, *there) && there->data == which.text;
  }
  /// Whether another session registered the shared instance after ours had expired; ours waits for it.
  bool is_taken(const tree& nodes) const {
    const auto* there = nodes.find(shared_.path);
    return there && there->stat.ephemeral_owner != session_id() && shared_.held->status().error == errc::busy;
  }

  discovery_scenario& of_;
  service_discovery services_;
  std::optional<service_view> view_;
  std::optional<service_provider> provider_;
  service_snapshot seen_;
  std::string chosen_;  // description of the instance picked last; empty: there was none
  desk own_;
  desk shared_;
  std::set<std::string> unclear_;  // paths at which an abandoned operation may still take effect
};

attendant::attendant(discovery_scenario& of, stage& in, int client, session with)
    : routine(in, client, with),
      of_(of),
      services_(with, services_path),
      view_(services_.watch(own_service)),
      provider_(std::in_place, services_, shared_service) {
  longest_rest = 2s;
  begin();
  follow();
}

asio::awaitable<void> attendant::round() {
  auto first = enrol(own_, own_service, name());
  co_await std::move(first);
  if (!own_.held) co_return;
  if (dice().one_in(2)) {
    auto second = enrol(shared_, shared_service, "one");
    co_await std::move(second);
  }
  const auto changes = dice().below(3);
  for (std::uint64_t i = 0; i < changes; ++i) {
    co_await rest(0ms, 2s);
    auto changing = change(shared_.held && dice().one_in(2) ? shared_ : own_);
    co_await std::move(changing);
  }
  do {
    co_await rest(0ms, 4s);
    co_await choose();
  } while (of_.is_healed && !stopping());
  if (shared_.held) {
    auto giving_back = withdraw(shared_, "one");
    co_await std::move(giving_back);
  }
  auto leaving = withdraw(own_, name());
  co_await std::move(leaving);
}

asio::awaitable<void> attendant::enrol(desk& at, std::string service, std::string who) {
  at.said = service_instance();
  at.said.name = service;
  at.said.id = of_.id_of(who);
  at.said.address = name();
  at.said.registration_time = 1;
  if (&at == &own_ && of_.has_static) at.said.type = service_type::static_node;
  at.describe();
  at.wanted = true;
  auto registering =
      waits<service_registration>([&](auto token) { services_.async_register(at.said, std::move(token)); });
  auto [error, made] = co_await std::move(registering);
  at.wanted = at.steady = !error;
  if (error) {
    unclear_.insert(at.path);
    if (error != errc::busy) of_.use_another_id(who);
    co_return;
  }
  at.held = std::move(made);
  of_.check_said(*this, at);
}

asio::awaitable<void> attendant::change(desk& at) {
  at.steady = false;
  const bool drain = dice().one_in(3);
  if (drain) {
    at.said.enabled = !at.said.enabled;
  } else {
    at.said.payload = std::to_string(dice().below(1000));
  }
  at.describe();
  auto changing = waits<>([&](auto token) {
    if (drain) {
      at.held->async_set_enabled(at.said.enabled, std::move(token));
    } else {
      at.held->async_update(at.said, std::move(token));
    }
  });
  auto [error] = co_await std::move(changing);
  at.steady = !error;
  if (!error) of_.check_said(*this, at);
}

asio::awaitable<void> attendant::withdraw(desk& at, std::string who) {
  at.steady = false;
  if (dice().one_in(4)) {
    unclear_.insert(at.path);
    of_.use_another_id(who);
  } else {
    const auto since = in().clock().now();
    auto unregistering = does<>([&](auto token) { at.held->async_unregister(std::move(token)); });
    auto [error] = co_await std::move(unregistering);
    // A process that has slept for longer than the retry limit has had no connection for that long.
    const bool has_slept = error == errc::connection_loss && in().what().is_paused(client(), since, in().clock().now());
    in().require(!error || has_slept, "an operation ends for a reason", error.message());
    if (error) {
      unclear_.insert(at.path);
      of_.use_another_id(who);
    } else {
      of_.check_gone(*this, at);
    }
  }
  at.held.reset();
  at.wanted = false;
}

asio::awaitable<void> attendant::choose() {
  auto choosing = waits<service_instance>([&](auto token) { provider_->async_pick(std::move(token)); });
  auto [error, one] = co_await std::move(choosing);
  if (error && error != errc::no_node) co_return;
  chosen_.clear();
  if (error) co_return;
  chosen_ = *to_json(one);
  of_.check_chosen(one, chosen_);
}

void attendant::follow() {
  aside<service_change>([&](auto token) { view_->async_change(seen_, std::move(token)); },
                        [this](error_code error, service_change change) {
                          if (error) return;
                          learn(change);
                          if (!stopping()) follow();
                        });
}

/// Checks that the change, applied to the instances seen before, gives the present instances.
void attendant::learn(const service_change& change) {
  std::map<std::string, service_instance> applied;
  for (const auto& each : seen_.instances) applied[each.id] = each;
  for (const auto& each : change.removed) {
    in().require(applied.erase(each.id) == 1, "differences add up", each.id + " was not there");
  }
  for (const auto& each : change.changed) {
    in().require(applied.contains(each.id), "differences add up", each.id + " is new");
    applied[each.id] = each;
  }
  for (const auto& each : change.added) {
    in().require(applied.emplace(each.id, each).second, "differences add up", each.id + " twice");
  }
  std::map<std::string, service_instance> wanted;
  for (const auto& each : change.now.instances) wanted[each.id] = each;
  in().require(applied == wanted && change.now.broken.empty(), "differences add up");
  seen_ = change.now;
}

bool attendant::sees_the_truth(const tree& nodes) const {
  const auto* parent = nodes.find(path_of(own_service));
  if (!parent || seen_.instances.size() != parent->children.size()) return false;
  return std::all_of(seen_.nodes.nodes.begin(), seen_.nodes.nodes.end(), [&](const child_ptr& each) {
    const auto* there = nodes.find(path_of(own_service) + '/' + each->name);
    return there && there->stat.czxid == each->stat.czxid && there->stat.mzxid == each->stat.mzxid &&
           there->data == each->data;
  });
}

bool attendant::chooses_the_truth(const tree& nodes) const {
  const auto* parent = nodes.find(path_of(shared_service));
  bool any = false;
  for (const auto& name : parent ? parent->children : std::set<std::string>()) {
    const auto& there = nodes.find(path_of(shared_service) + '/' + name)->data;
    if (there == chosen_) return true;
    any = any || of_.is_enabled(there);
  }
  return !any && chosen_.empty();
}

namespace {

/// Whether the path is that of an instance: a child of a service.
bool is_instance(const std::string& path) { return parent_path(parent_path(path)) == services_path; }

/// Whether no process is killed: a killed process would leave its static instance behind.
bool nobody_dies(const plan& what) {
  return std::none_of(what.faults.begin(), what.faults.end(),
                      [](const fault& each) { return each.kind == fault_kind::restart_client; });
}

}  // namespace

discovery_scenario::discovery_scenario(stage& in)
    : has_static(in.what().seed % 4 == 0 && nobody_dies(in.what())), in_(in) {}

std::unique_ptr<program> discovery_scenario::start(stage& in, int client, session with) {
  return std::make_unique<attendant>(*this, in, client, std::move(with));
}

attendant* discovery_scenario::running(int client) const { return static_cast<attendant*>(in_.running(client)); }

const attendant* discovery_scenario::of_session(std::int64_t session) const {
  for (int i = 0; i < in_.what().clients; ++i) {
    const auto* each = running(i);
    if (each && each->session_id() == session) return each;
  }
  return nullptr;
}

void discovery_scenario::committed(const entry& what) {
  const bool by_a_client = what.type == entry::kind::request && what.session;
  for (const auto& each : what.changes) {
    if (!is_instance(each.path)) continue;
    if (each.type == change::kind::create) created(each, what.session);
    if (each.type != change::kind::remove) descriptions_[each.data] = parse_service_instance(each.data)->enabled;
    const auto owner = owners_[each.path];
    in_.require(!by_a_client || !owner || owner == what.session, "an id has one owner", each.path);
    if (by_a_client && each.type == change::kind::remove) removed(each.path, what.session);
  }
}

/// A client that was told that it is unregistered must not make the node again, not even late.
void discovery_scenario::created(const change& what, std::int64_t session) {
  owners_[what.path] = what.owner;
  const auto* whose = of_session(session);
  const bool fine = !whose || whose->at(what.path) || whose->is_unclear(what.path);
  in_.require(fine, "who has unregistered stays so", what.path);
}

/// A client must not remove its own node while that is as described.
void discovery_scenario::removed(const std::string& path, std::int64_t session) const {
  const auto* whose = of_session(session);
  const auto* which = whose ? whose->at(path) : nullptr;
  const bool needless = which && which->steady && !whose->is_unclear(path);
  in_.require(!needless, "an instance does not flap", path);
}

/// Nor must it write to its node then: a reconnect costs only reads.
void discovery_scenario::received(const connection& from, const backend::request& what) {
  using backend::opcode;
  if (what.op != opcode::create && what.op != opcode::set && what.op != opcode::remove) return;
  const auto* whose = running(from.client);
  const bool is_present_one = in_.wire(from.client).get() == &from;
  const auto* which = whose && is_present_one ? whose->at(what.path) : nullptr;
  const bool needless = which && which->steady && which->present() && !whose->is_unclear(what.path);
  in_.require(!needless, "an instance does not flap", what.path);
}

void discovery_scenario::check_said(const attendant& whose, const desk& which) const {
  const auto* node = in_.servers().committed_state().find(which.path);
  const bool is_ours = node && whose.is_of(which, *node);
  in_.require(!is_ours || node->data == which.text, "it stands as described", which.path);
}

void discovery_scenario::check_gone(const attendant& whose, const desk& which) const {
  const auto* node = in_.servers().committed_state().find(which.path);
  const bool is_ours = node && whose.is_of(which, *node) && !in_.servers().is_ending(node->stat.ephemeral_owner);
  in_.require(!is_ours || whose.is_unclear(which.path), "who has unregistered is gone", which.path);
}

void discovery_scenario::check_chosen(const service_instance& which, const std::string& text) const {
  in_.require(which.enabled, "who drains is not chosen", which.id);
  in_.require(descriptions_.contains(text), "who is chosen has been there", which.id);
}

bool discovery_scenario::recovered() {
  const auto& nodes = in_.servers().committed_state();
  for (int i = 0; i < in_.what().clients; ++i) {
    const auto* each = running(i);
    if (!each || !each->stands(nodes) || !each->sees_the_truth(nodes) || !each->chooses_the_truth(nodes)) return false;
  }
  return true;
}

void discovery_scenario::check_quiet(const tree& nodes) {
  for (const auto* service : {own_service, shared_service}) {
    const auto* there = nodes.find(path_of(service));
    if (there && !there->children.empty()) in_.fail("no node left", path_of(service) + '/' + *there->children.begin());
  }
}

std::unique_ptr<scenario> make_discovery_scenario(stage& in) { return std::make_unique<discovery_scenario>(in); }

}  // namespace zkrecipes::simulation
