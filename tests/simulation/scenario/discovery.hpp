// Each client registers an instance of its own at one service and, if it can, an instance that all want at another
// service. It changes their descriptions, unregisters and registers again. It follows the first service, and picks
// instances of the second one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include <zkrecipes/service_provider.hpp>

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

}  // namespace zkrecipes::simulation
