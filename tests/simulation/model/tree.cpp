#include "model/tree.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <boost/uuid/detail/sha1.hpp>

namespace zkrecipes::simulation {

namespace {

std::string base64(const std::string& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string digest_of(const std::string& secret) {
  boost::uuids::detail::sha1 hash;
  hash.process_bytes(secret.data(), secret.size());
  unsigned int words[5];
  hash.get_digest(words);
  std::string bytes;
  for (auto word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift & 0xff);
  }
  return secret.substr(0, secret.find(':')) + ':' + base64(bytes);
}

/// Whether the id has two parts as Java's `String.split` counts them: empty parts at the end do not count.
bool is_digest(const std::string& id) {
  const auto end = id.find_last_not_of(':');
  return end != id.npos && std::count(id.begin(), id.begin() + static_cast<std::ptrdiff_t>(end), ':') == 1;
}

}  // namespace

identities authenticate(const std::vector<credentials>& given) {
  identities who;
  for (const auto& each : given) who.push_back(authenticate(each));
  return who;
}

identity authenticate(const credentials& one) { return {"digest", digest_of(one.user + ':' + one.password)}; }

bool allows(const acl& access, std::int32_t permissions, const identities& who) {
  return std::any_of(access.begin(), access.end(), [&](const acl_entry& each) {
    if ((each.permissions & permissions) == 0) return false;
    if (each.scheme == "world") return true;
    return std::any_of(who.begin(), who.end(),
                       [&](const identity& one) { return one.scheme == each.scheme && one.id == each.id; });
  });
}

std::optional<acl> completed(const acl& asked, const identities& who) {
  acl result;
  auto add = [&](acl_entry entry) {
    if (std::find(result.begin(), result.end(), entry) == result.end()) result.push_back(std::move(entry));
  };
  for (const auto& each : asked) {
    if (each.scheme == "world" && each.id == "anyone") {
      add(each);
    } else if (each.scheme == "auth") {
      if (who.empty()) return std::nullopt;
      for (const auto& one : who) add({each.permissions, one.scheme, one.id});
    } else if (each.scheme == "digest" && is_digest(each.id)) {
      add(each);
    } else {
      return std::nullopt;
    }
  }
  return result.empty() ? std::nullopt : std::optional(result);
}

acl shown(const acl& access, const identities& who) {
  if (allows(access, perm_admin, who)) return access;
  acl masked = access;
  for (auto& each : masked) {
    if (each.scheme == "digest") each.id = each.id.substr(0, each.id.find(':')) + ":x";
  }
  return masked;
}

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

node_stat node::visible() const {
  auto seen = stat;
  seen.num_children = static_cast<std::int32_t>(children.size());
  seen.cversion = stat.cversion * 2 - seen.num_children;
  if (stat.ephemeral_owner == container_owner) seen.ephemeral_owner = 0;
  seen.data_length = static_cast<std::int32_t>(data.size());
  return seen;
}

std::string_view parent_path(std::string_view path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

tree::tree() {
  // The nodes of a new ensemble.
  nodes_["/"].children = {"zookeeper"};
  nodes_["/zookeeper"].children = {"config", "quota"};
  for (const char* path : {"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"})
    nodes_[path].access = open_acl();
}

const node* tree::find(std::string_view path) const {
  auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

void tree::apply(const change& what, std::int64_t zxid, std::int64_t time_ms) {
  if (what.type == change::kind::create) {
    auto& parent = at(parent_path(what.path));
    parent.children.emplace(last_name(what.path));
    ++parent.stat.cversion;
    parent.stat.pzxid = zxid;
    auto& made = nodes_[what.path];
    made.data = what.data;
    made.access = what.access;
    made.stat = {
        .czxid = zxid, .mzxid = zxid, .pzxid = zxid, .ctime = time_ms, .mtime = time_ms, .ephemeral_owner = what.owner};
  } else if (what.type == change::kind::remove) {
    auto& parent = at(parent_path(what.path));
    parent.children.erase(std::string(last_name(what.path)));
    parent.stat.pzxid = zxid;
    nodes_.erase(what.path);
  } else if (what.type == change::kind::set) {
    auto& changed = at(what.path);
    changed.data = what.data;
    changed.stat.version = what.version;
    changed.stat.mzxid = zxid;
    changed.stat.mtime = time_ms;
  } else {
    auto& changed = at(what.path);
    changed.access = what.access;
    changed.stat.aversion = what.version;
  }
}

std::vector<std::string> tree::ephemerals(std::int64_t session) const {
  std::vector<std::string> paths;
  for (const auto& [path, each] : nodes_) {
    if (each.stat.ephemeral_owner == session) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> tree::abandoned_containers() const {
  std::vector<std::string> paths;
  for (const auto& [path, each] : nodes_) {
    if (each.stat.ephemeral_owner == container_owner && each.children.empty() && each.stat.cversion > 0)
      paths.push_back(path);
  }
  return paths;
}

tree::former tree::keep(const std::string& path) const {
  former kept;
  kept.path = path;
  if (const auto* present = find(path)) {
    kept.existed = true;
    kept.data = present->data;
    kept.access = present->access;
    kept.stat = present->stat;
  }
  kept.stat_of_parent = find(parent_path(path))->stat;
  return kept;
}

void tree::restore(former kept) {
  auto& parent = at(parent_path(kept.path));
  if (kept.existed) {
    const auto [found, was_gone] = nodes_.try_emplace(kept.path);
    if (was_gone) parent.children.emplace(last_name(kept.path));
    auto& again = found->second;
    again.data = std::move(kept.data);
    again.access = std::move(kept.access);
    again.stat = kept.stat;
  } else {
    parent.children.erase(std::string(last_name(kept.path)));
    nodes_.erase(kept.path);
  }
  parent.stat = kept.stat_of_parent;
}

}  // namespace zkrecipes::simulation
