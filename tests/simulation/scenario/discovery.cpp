#include "scenario/discovery.hpp"

#include "scenario/recipes.hpp"

namespace zkrecipes::simulation {

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
