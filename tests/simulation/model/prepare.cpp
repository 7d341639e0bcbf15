#include "model/prepare.hpp"

#include <cstdio>
#include <utility>

namespace zkrecipes::simulation {

using backend::opcode;

namespace {

/// One operation, alone or in a transaction, in the form that it has in a transaction.
struct step {
  const operation& what;
  bool sets_acl = false;
};

struct context {
  tree& latest;
  const identities& who;
  std::int64_t session;
  std::int64_t zxid;
  std::int64_t time_ms;
};

error_code check_create(const context& in, const operation& what, change& effect) {
  auto access = completed(what.acl, in.who);
  if (!access) return errc::invalid_acl;
  const auto parent_of_node = parent_path(what.path);
  const node* parent = in.latest.find(parent_of_node);
  if (!parent) return errc::no_node;
  if (!allows(parent->access, perm_create, in.who)) return errc::no_auth;
  effect.type = change::kind::create;
  effect.path = what.path;
  const bool sequential =
      what.mode == create_mode::persistent_sequential || what.mode == create_mode::ephemeral_sequential;
  if (sequential) {
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, "%010d", parent->stat.cversion);
    effect.path += suffix;
  }
  if (in.latest.find(effect.path)) return errc::node_exists;
  const auto owner_of_parent = parent->stat.ephemeral_owner;
  if (owner_of_parent != 0 && owner_of_parent != container_owner) return errc::no_children_for_ephemerals;
  const bool ephemeral = what.mode == create_mode::ephemeral || what.mode == create_mode::ephemeral_sequential;
  effect.owner = ephemeral ? in.session : what.mode == create_mode::container ? container_owner : 0;
  effect.data = what.data;
  effect.access = std::move(*access);
  return {};
}

error_code check_remove(const context& in, const operation& what, change& effect) {
  for (const char* special : {"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"}) {
    if (what.path == special) return errc::bad_arguments;
  }
  const node* parent = in.latest.find(parent_path(what.path));
  if (!parent) return errc::no_node;
  if (!allows(parent->access, perm_delete, in.who)) return errc::no_auth;
  const node* gone = in.latest.find(what.path);
  if (!gone) return errc::no_node;
  if (what.version != any_version && what.version != gone->stat.version) return errc::bad_version;
  if (!gone->children.empty()) return errc::not_empty;
  effect.type = change::kind::remove;
  effect.path = what.path;
  return {};
}

error_code check_set(const context& in, const operation& what, std::int32_t permission, change& effect) {
  const node* present = in.latest.find(what.path);
  if (!present) return errc::no_node;
  if (!allows(present->access, permission, in.who)) return errc::no_auth;
  if (what.version != any_version && what.version != present->stat.version) return errc::bad_version;
  effect.type = change::kind::set;
  effect.path = what.path;
  effect.data = what.data;
  effect.version = present->stat.version + 1;
  return {};
}

error_code check_set_acl(const context& in, const operation& what, change& effect) {
  auto access = completed(what.acl, in.who);
  if (!access) return errc::invalid_acl;
  const node* present = in.latest.find(what.path);
  if (!present) return errc::no_node;
  if (!allows(present->access, perm_admin, in.who)) return errc::no_auth;
  if (what.version != any_version && what.version != present->stat.aversion) return errc::bad_version;
  effect.type = change::kind::set_acl;
  effect.path = what.path;
  effect.access = std::move(*access);
  effect.version = present->stat.aversion + 1;
  return {};
}

error_code check(const context& in, const step& each, change& effect) {
  if (each.sets_acl) return check_set_acl(in, each.what, effect);
  switch (each.what.type) {
    case operation::kind::create: return check_create(in, each.what, effect);
    case operation::kind::remove: return check_remove(in, each.what, effect);
    case operation::kind::set: return check_set(in, each.what, perm_write, effect);
    case operation::kind::check: return check_set(in, each.what, perm_read, effect);
  }
  return errc::server_error;
}

/// Nodes as they were before each change of a transaction, to be restored if it fails.
class undo {
 public:
  explicit undo(tree& latest) : latest_(latest) {}
  void keep(const std::string& path) { kept_.push_back(latest_.keep(path)); }
  void roll_back() {
    for (; !kept_.empty(); kept_.pop_back()) latest_.restore(std::move(kept_.back()));
  }

 private:
  tree& latest_;
  std::vector<tree::former> kept_;
};

prepared prepare_multi(const context& in, const backend::request& what) {
  prepared result;
  undo before(in.latest);
  const auto count = what.operations.size();
  for (std::size_t i = 0; i < count && !result.answer.error; ++i) {
    const step each{what.operations[i], false};
    change effect;
    operation_result outcome;
    outcome.error = check(in, each, effect);
    if (outcome.error) {
      before.roll_back();
      result.changes.clear();
      result.answer.results.assign(count, {errc::rolled_back, {}, {}});
      result.answer.results[i].error = result.answer.error = outcome.error;
      break;
    }
    if (each.what.type != operation::kind::check) {
      before.keep(effect.path);
      in.latest.apply(effect, in.zxid, in.time_ms);
      if (effect.type == change::kind::create) outcome.path = effect.path;
      if (effect.type == change::kind::set) outcome.stat = in.latest.find(effect.path)->visible();
      result.changes.push_back(std::move(effect));
    }
    result.answer.results.push_back(std::move(outcome));
  }
  return result;
}

operation single(const backend::request& what) {
  operation each;
  each.path = what.path;
  each.data = what.data;
  each.version = what.version;
  each.mode = what.mode;
  each.acl = what.access;
  each.type = what.op == opcode::create   ? operation::kind::create
              : what.op == opcode::remove ? operation::kind::remove
                                          : operation::kind::set;
  return each;
}

}  // namespace

bool is_read(opcode op) {
  switch (op) {
    case opcode::get:
    case opcode::exists:
    case opcode::children:
    case opcode::get_acl:
    case opcode::authenticate:
    case opcode::forget_data:
    case opcode::forget_children: return true;
    default: return false;
  }
}

prepared prepare(tree& latest, const backend::request& what, const identities& who, std::int64_t session,
                 std::int64_t zxid, std::int64_t time_ms) {
  const context in{latest, who, session, zxid, time_ms};
  if (what.op == opcode::multi) return prepare_multi(in, what);
  prepared result;
  change effect;
  const auto only = single(what);
  result.answer.error = check(in, {only, what.op == opcode::set_acl}, effect);
  if (result.answer.error) return result;
  latest.apply(effect, zxid, time_ms);
  if (what.op == opcode::create) result.answer.path = effect.path;
  if (what.op == opcode::create || what.op == opcode::set) result.answer.stat = latest.find(effect.path)->visible();
  result.changes.push_back(std::move(effect));
  return result;
}

backend::reply read(const tree& from, const backend::request& what, const identities& who) {
  backend::reply answer;
  if (what.op == opcode::authenticate) return answer;
  if (what.op == opcode::forget_data || what.op == opcode::forget_children) return answer;
  const node* found = from.find(what.path);
  if (!found) {
    answer.error = errc::no_node;
    return answer;
  }
  const auto needed = what.op == opcode::get_acl ? perm_read | perm_admin : perm_read;
  if (what.op != opcode::exists && !allows(found->access, needed, who)) {
    answer.error = errc::no_auth;
    return answer;
  }
  answer.stat = found->visible();
  if (what.op == opcode::get) answer.data = found->data;
  if (what.op == opcode::children) answer.children.assign(found->children.begin(), found->children.end());
  if (what.op == opcode::get_acl) answer.access = shown(found->access, who);
  return answer;
}

}  // namespace zkrecipes::simulation
