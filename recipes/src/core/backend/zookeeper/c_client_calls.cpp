#include "backend/zookeeper/c_client_calls.hpp"

#include <deque>
#include <utility>

#include "backend/worded_errors.hpp"

namespace zkrecipes::backend {

error_code from_c_client(int rc) noexcept {
  switch (rc) {
    case ZOK:
    case ZNOWATCHER: return {};  // the watch to remove has fired just now
    case ZNONODE: return errc::no_node;
    case ZNODEEXISTS: return errc::node_exists;
    case ZBADVERSION: return errc::bad_version;
    case ZNOTEMPTY: return errc::not_empty;
    case ZNOCHILDRENFOREPHEMERALS: return errc::no_children_for_ephemerals;
    case ZNOAUTH: return errc::no_auth;
    case ZINVALIDACL: return errc::invalid_acl;
    case ZBADARGUMENTS: return errc::bad_arguments;
    case ZAUTHFAILED: return errc::auth_failed;
    case ZSESSIONCLOSEDREQUIRESASLAUTH: return errc::auth_required;  // also if another scheme is demanded
    case ZSESSIONEXPIRED: return errc::session_expired;
    case ZRUNTIMEINCONSISTENCY:
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZMARSHALLINGERROR:
    case ZINVALIDSTATE:
    case ZCLOSING:
    case ZSESSIONMOVED: return errc::connection_loss;
    default: return server_refusal(rc);
  }
}

namespace {

/// Everything that must live until the callback of a request, because the C client keeps pointers into it.
struct ticket {
  explicit ticket(request r, std::function<void(reply)> handler) : what(std::move(r)), done(std::move(handler)) {}

  request what;
  std::function<void(reply)> done;
  std::vector<zoo_op_t> ops;
  std::vector<zoo_op_result_t> results;
  std::vector<std::string> created;
  std::vector<Stat> stats;
};

/// An ACL in the C client's form. It points into the `acl` that it was made from.
struct acl_view {
  explicit acl_view(const acl& access) {
    for (const auto& each : access) {
      entries.push_back(
          {each.permissions, {const_cast<char*>(each.scheme.c_str()), const_cast<char*>(each.id.c_str())}});
    }
    vector = {static_cast<std::int32_t>(entries.size()), entries.data()};
  }
  std::vector<ACL> entries;
  ACL_vector vector;
};

node_stat convert(const Stat& s) {
  return {s.czxid,    s.mzxid,    s.pzxid,          s.ctime,      s.mtime,      s.version,
          s.cversion, s.aversion, s.ephemeralOwner, s.dataLength, s.numChildren};
}

int convert(create_mode mode) {
  switch (mode) {
    case create_mode::ephemeral: return ZOO_EPHEMERAL;
    case create_mode::persistent_sequential: return ZOO_PERSISTENT_SEQUENTIAL;
    case create_mode::ephemeral_sequential: return ZOO_EPHEMERAL_SEQUENTIAL;
    case create_mode::container: return ZOO_CONTAINER;
    case create_mode::persistent: break;
  }
  return ZOO_PERSISTENT;
}

void finish(const void* data, int rc, reply answer) {
  std::unique_ptr<ticket> owned(static_cast<ticket*>(const_cast<void*>(data)));
  answer.error = from_c_client(rc);
  answer.throttled = rc == ZTHROTTLEDOP;
  owned->done(std::move(answer));
}

void on_void(int rc, const void* data) { finish(data, rc, {}); }

void on_stat(int rc, const Stat* s, const void* data) {
  reply answer;
  if (rc == ZOK && s) answer.stat = convert(*s);
  finish(data, rc, std::move(answer));
}

/// Any answer of the server is one.
void on_sign(int rc, const Stat*, const void* data) {
  const bool is_answer = rc == ZNONODE || rc == ZNOAUTH;
  finish(data, is_answer ? ZOK : rc, {});
}

void on_data(int rc, const char* value, int length, const Stat* s, const void* data) {
  reply answer;
  if (rc == ZOK && length > 0) answer.data.assign(value, static_cast<std::size_t>(length));
  if (rc == ZOK && s) answer.stat = convert(*s);
  finish(data, rc, std::move(answer));
}

void on_string(int rc, const char* value, const void* data) {
  reply answer;
  if (rc == ZOK && value) answer.path = value;
  finish(data, rc, std::move(answer));
}

void on_string_stat(int rc, const char* value, const Stat* s, const void* data) {
  reply answer;
  if (rc == ZOK && value) answer.path = value;
  if (rc == ZOK && s) answer.stat = convert(*s);
  finish(data, rc, std::move(answer));
}

void on_children(int rc, const String_vector* names, const Stat* s, const void* data) {
  reply answer;
  if (rc == ZOK && names) answer.children.assign(names->data, names->data + names->count);
  if (rc == ZOK && s) answer.stat = convert(*s);
  finish(data, rc, std::move(answer));
}

void on_acl(int rc, ACL_vector* access, Stat* s, const void* data) {
  reply answer;
  for (int i = 0; rc == ZOK && access && i < access->count; ++i) {
    const ACL& each = access->data[i];
    answer.access.push_back({each.perms, each.id.scheme, each.id.id});
  }
  if (rc == ZOK && s) answer.stat = convert(*s);
  finish(data, rc, std::move(answer));
}

void on_multi(int rc, const void* data) {
  const auto* owned = static_cast<const ticket*>(data);
  reply answer;
  bool executed = rc == ZOK || from_c_client(rc) != errc::connection_loss;
  for (std::size_t i = 0; executed && i < owned->results.size(); ++i) {
    const auto& result = owned->results[i];
    operation_result each;
    each.error = result.err == rc ? from_c_client(rc) : rc == ZOK ? error_code() : make_error_code(errc::rolled_back);
    if (rc == ZOK && result.value) each.path = result.value;
    if (rc == ZOK) each.stat = convert(owned->stats[i]);
    answer.results.push_back(std::move(each));
  }
  finish(data, rc, std::move(answer));
}

void add_operation(ticket& owned, std::size_t i, const ACL_vector* access) {
  const operation& each = owned.what.operations[i];
  zoo_op_t& op = owned.ops[i];
  const int length = static_cast<int>(each.data.size());
  switch (each.type) {
    case operation::kind::create:
      owned.created[i].resize(each.path.size() + 12);  // room for a sequence number, else it is silently truncated
      zoo_create_op_init(&op, each.path.c_str(), each.data.data(), length, access, convert(each.mode),
                         owned.created[i].data(), static_cast<int>(owned.created[i].size()));
      break;
    case operation::kind::remove: zoo_delete_op_init(&op, each.path.c_str(), each.version); break;
    case operation::kind::set:
      zoo_set_op_init(&op, each.path.c_str(), each.data.data(), length, each.version, &owned.stats[i]);
      break;
    case operation::kind::check: zoo_check_op_init(&op, each.path.c_str(), each.version); break;
  }
}

int submit_multi(zhandle_t* handle, ticket& owned) {
  const std::size_t count = owned.what.operations.size();
  owned.ops.resize(count);
  owned.results.resize(count);
  owned.created.resize(count);
  owned.stats.resize(count);
  std::deque<acl_view> accesses;  // needed only during the call, which serialises them
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_create = owned.what.operations[i].type == operation::kind::create;
    if (is_create) accesses.emplace_back(owned.what.operations[i].acl);
    add_operation(owned, i, is_create ? &accesses.back().vector : nullptr);
  }
  return zoo_amulti(handle, static_cast<int>(count), owned.ops.data(), owned.results.data(), on_multi, &owned);
}

int submit_forget(zhandle_t* handle, const ticket& owned) {
  auto type = owned.what.op == opcode::forget_data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
  // The C client declares the parameter as a pointer to a function pointer, but calls it as the function itself.
  auto completion = reinterpret_cast<void_completion_t*>(&on_void);
  return zoo_aremove_all_watches(handle, owned.what.path.c_str(), type, 0, completion, const_cast<ticket*>(&owned));
}

}  // namespace

int submit(zhandle_t* handle, request what, watcher_fn watcher, void* context, std::function<void(reply)> done) {
  auto owned = std::make_unique<ticket>(std::move(what), std::move(done));
  const request& r = owned->what;
  const char* path = r.path.c_str();
  const int length = static_cast<int>(r.data.size());
  watcher_fn fn = r.watch ? watcher : nullptr;
  const acl_view access(r.access);
  int rc = ZBADARGUMENTS;
  switch (r.op) {
    case opcode::create:
      rc = zoo_acreate2(handle, path, r.data.data(), length, &access.vector, convert(r.mode), on_string_stat,
                        owned.get());
      break;
    case opcode::remove: rc = zoo_adelete(handle, path, r.version, on_void, owned.get()); break;
    case opcode::get: rc = zoo_awget(handle, path, fn, context, on_data, owned.get()); break;
    case opcode::set: rc = zoo_aset(handle, path, r.data.data(), length, r.version, on_stat, owned.get()); break;
    case opcode::exists: rc = zoo_awexists(handle, path, fn, context, on_stat, owned.get()); break;
    case opcode::children: rc = zoo_awget_children2(handle, path, fn, context, on_children, owned.get()); break;
    case opcode::sync: rc = zoo_async(handle, path, on_string, owned.get()); break;
    case opcode::multi: rc = submit_multi(handle, *owned); break;
    case opcode::get_acl: rc = zoo_aget_acl(handle, path, on_acl, owned.get()); break;
    case opcode::set_acl:
      rc = zoo_aset_acl(handle, path, r.version, const_cast<ACL_vector*>(&access.vector), on_void, owned.get());
      break;
    // The credentials themselves have been sent. The answer to a read behind them says that the server has taken them.
    case opcode::authenticate: rc = zoo_awexists(handle, path, nullptr, nullptr, on_sign, owned.get()); break;
    case opcode::forget_data:
    case opcode::forget_children: rc = submit_forget(handle, *owned); break;
  }
  if (rc == ZOK) owned.release();  // the callback owns it now
  return rc;
}

}  // namespace zkrecipes::backend
