#include "session/requests_in_flight.hpp"

#include <algorithm>
#include <utility>

#include <zkrecipes/node.hpp>

#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

root_path::root_path(std::string path, const acl& standard)
    : path_(std::move(path)), standard_(standard.empty() ? open_acl() : standard) {}

std::string root_path::full(std::string path) const {
  if (path_.empty()) return path;
  return path == "/" ? path_ : path_ + path;
}

std::string root_path::below(std::string path) const {
  if (path_.empty() || path.compare(0, path_.size(), path_) != 0) return path;
  return path.size() == path_.size() ? "/" : path.substr(path_.size());
}

void root_path::apply(backend::request& what) const {
  if (what.op == opcode::create && what.access.empty()) what.access = standard_;
  for (auto& each : what.operations) {
    if (each.acl.empty()) each.acl = standard_;
    each.path = full(std::move(each.path));
  }
  const bool has_no_path = what.op == opcode::multi || what.op == opcode::sync || what.op == opcode::authenticate;
  if (!has_no_path) what.path = full(std::move(what.path));
}

void root_path::strip(backend::reply& answer) const {
  answer.path = below(std::move(answer.path));
  for (auto& each : answer.results) each.path = below(std::move(each.path));
}

using backend::opcode;

namespace {

/// A server can refuse a request without the leader: because it is throttled, or by an access check of its own ahead of
/// the leader's. The operations of a transaction are judged by the leader alone, and a quorum logs their failure like a
/// success.
witness witness_of(opcode op, const error_code& outcome) {
  if (op == opcode::sync) return outcome ? witness::server : witness::leader;
  const bool judged = op == opcode::multi && outcome != errc::server_error && outcome != errc::auth_failed;
  return is_write(op) && (!outcome || judged) ? witness::quorum : witness::server;
}

std::pair<watch_kind, std::string> watch_of(const backend::request& what) {
  return {what.op == opcode::children ? watch_kind::children : watch_kind::data, what.path};
}

/// `exists` is the only read that sets a watch on a missing node.
bool sets_watch(opcode op, const error_code& outcome) {
  return !outcome || (op == opcode::exists && outcome == errc::no_node);
}

node_mark mark_of(const backend::reply& answer) { return {!answer.error, answer.stat.mzxid, answer.stat.pzxid}; }

std::optional<node_mark> seen_by_watch(opcode op, const backend::reply& answer) {
  return sets_watch(op, answer.error) ? std::optional(mark_of(answer)) : std::nullopt;
}

/// What the C client would silently take for something else: for a persistent node, or for a shorter ACL.
bool would_be_misread(create_mode mode, const acl& access) {
  return mode < create_mode::persistent || mode > create_mode::container || has_nul(access);
}

bool well_formed(const backend::request& what) {
  if (what.op != opcode::multi) return path_problem(what.path).empty() && !would_be_misread(what.mode, what.access);
  for (const auto& each : what.operations) {
    // If a path in the middle is bad, the C client frees memory that it never allocated. And the server's answer to the
    // creation of a container is one that the C client can not read.
    if (!path_problem(each.path).empty() || each.mode == create_mode::container) return false;
    if (would_be_misread(each.mode, each.acl)) return false;
  }
  return !what.operations.empty();
}

/// The paths that the trace and the log may have to tell: for a transaction those of all operations.
std::vector<std::string> paths_of(const backend::request& what) {
  std::vector<std::string> paths;
  for (const auto& each : what.operations) paths.push_back(each.path);
  if (paths.empty()) paths.push_back(what.path);
  return paths;
}

/// The path of the operation that failed, if the answer to a transaction tells which one it was; else the first path.
const std::string& path_at_fault(const std::vector<std::string>& paths, const backend::reply& answer) {
  for (std::size_t i = 0; i < std::min(paths.size(), answer.results.size()); ++i) {
    const auto& error = answer.results[i].error;
    if (error && error != errc::rolled_back) return paths[i];
  }
  return paths.front();
}

/// A transaction of checks only, such as a catch-up, changes nothing.
bool may_change(const backend::request& what) {
  const auto is_check = [](const operation& each) { return each.type == operation::kind::check; };
  return is_write(what.op) && (what.op != opcode::multi || !std::ranges::all_of(what.operations, is_check));
}

}  // namespace

/// What has to be known of a request when its answer comes.
struct requests_in_flight::sent_request {
  exchange_ptr which;
  std::uint64_t number = 0;
  opcode op{};
  lease_clock::time_point sent{};
  std::vector<std::string> paths;  ///< A transaction has one for each operation. Empty without a trace and a log.
  std::optional<std::pair<watch_kind, std::string>> watching;
  std::optional<std::string> probing;
  bool changes = false;
};

requests_in_flight::requests_in_flight(session_life& whose, answer_listener& told, root_path root)
    : life_(whose),
      told_(told),
      root_(std::move(root)),
      connection_(whose.get_scheduler()),
      watches_(std::make_shared<watch_registry>(
          [this](watch_kind kind, const std::string& path) { forget_watch(kind, path); })) {}

void requests_in_flight::forget_watch(watch_kind kind, const std::string& path) {
  if (!connected()) return;
  backend::request forget;
  forget.op = kind == watch_kind::data ? opcode::forget_data : opcode::forget_children;
  forget.path = path;
  send(std::move(forget));
}

exchange_ptr requests_in_flight::refuse(const error_code& why) {
  auto which = std::make_shared<exchange>(life_.get_scheduler(), false);
  which->answer.emplace();
  which->answer->error = why;
  which->answer->sent = false;
  return which;
}

exchange_ptr requests_in_flight::refuse_unsent(const backend::request& what, const error_code& why) {
  const auto paths = paths_of(what);
  const auto bad = std::ranges::find_if(paths, [](const auto& each) { return !path_problem(each).empty(); });
  const bool has_bad_path = bad != paths.end();
  life_.log().operation_ended(what.op, has_bad_path ? *bad : paths.front(), why,
                              has_bad_path ? "nothing was sent: " + path_problem(*bad) : "nothing was sent");
  return refuse(why);
}

exchange_ptr requests_in_flight::send(backend::request what) {
  if (life_.over()) return refuse(life_.over());
  if (!connected()) return refuse(backend::not_sent());
  if (!well_formed(what)) return refuse_unsent(what, errc::bad_arguments);
  sent_request request;
  if (what.watch) request.watching = watch_of(what);
  if (what.probes) request.probing = what.path;
  root_.apply(what);
  if (size_on_wire(what) > life_.options().jute_maxbuffer) return refuse_unsent(what, errc::too_large);
  if (request.watching) watches_->asked(request.watching->first, request.watching->second);
  request.op = what.op;
  auto which = request.which = std::make_shared<exchange>(life_.get_scheduler(), is_write(what.op));
  request.changes = may_change(what);
  request.sent = life_.now();
  request.number = life_.count(&session_counters::requests);
  in_flight_.emplace(request.number, which);
  if (life_.options().trace || life_.log().is_on()) request.paths = paths_of(what);
  // Captures `this` only: we own the link, and a request in flight must not keep us alive when the context ends.
  connection_.link->submit(std::move(what), [this, request = std::move(request)](backend::reply answer) {
    if (!on_answer(request, answer)) return;
    request.which->answer = std::move(answer);
    request.which->done.notify();
  });
  return which;
}

/// False: the request was answered already, or stays in flight until all are answered, because the server is left.
bool requests_in_flight::on_answer(const sent_request& request, backend::reply& answer) {
  connection_.has_lost_writes = connection_.has_lost_writes || (request.changes && is_reply_lost(answer.error));
  if (const auto& on = request.watching) watches_->answered(on->first, on->second, seen_by_watch(request.op, answer));
  if (request.probing) on_probe(request.op, *request.probing, answer);
  if (in_flight_.erase(request.number) == 0) return false;
  const auto leave = [&](void (answer_listener::*why)()) {
    in_flight_.emplace(request.number, request.which);
    (told_.*why)();
    return false;
  };
  const bool closing = life_.closing();
  const bool is_refused = request.number == welcome_number_ && is_server_refusal(answer.error);
  if (is_refused && !closing) return leave(&answer_listener::on_catch_up_refused);
  const bool is_past = !is_unanswered(answer.error) && shows_past(request.number, answer);
  if (is_past && !closing) return leave(&answer_listener::on_older_state);
  if (answer.error == errc::auth_required && !closing) return leave(&answer_listener::on_credentials_required);
  const bool is_lost = is_reply_lost(answer.error) || answer.error == errc::auth_required;
  if (closing && is_lost) answer.error = errc::closed;
  if (is_reply_lost(answer.error)) answer.error = backend::loss_of(request.which->is_write, answer.sent);
  record(request, answer);
  auto& log = life_.log();
  if (log.is_on() && !request.probing)
    log.operation_ended(request.op, path_at_fault(request.paths, answer), answer.error);
  root_.strip(answer);
  return true;
}

void requests_in_flight::record(const sent_request& request, const backend::reply& answer) {
  const auto& outcome = answer.error;
  const bool proves_life = !is_unanswered(outcome);
  if (proves_life && !connection_.is_served) told_.on_service();
  const auto sent = std::max(request.sent, answer.passed);
  if (proves_life && life_.acknowledged(sent, witness_of(request.op, outcome))) told_.on_lease_renewed();
  const auto& trace = life_.options().trace;
  if (trace) trace({backend::to_string(request.op), request.paths.front(), life_.now() - request.sent, outcome});
}

/// A probe was answered. Those who wait for a change look again only if they may read the node: until then nothing is
/// told, as without a probe, and the next ones try again. An answer that says nothing of the node is no news either.
void requests_in_flight::on_probe(opcode op, const std::string& path, const backend::reply& answer) {
  if (answer.error && answer.error != errc::no_node) return;
  const auto there = mark_of(answer);
  if (!watches_->is_untold(path, there)) return;
  if (op == opcode::exists && there.exists) {
    send(make_probe(opcode::get, path));
  } else {
    life_.log().change_untold(root_.full(path));
    watches_->probed(path, there);
  }
}

/// Remembers the state in which a server has answered. True if it is older than what the session has seen. Only the
/// answer to the catch-up is compared, which goes through the leader and a quorum: later answers on the same connection
/// are no older.
bool requests_in_flight::shows_past(std::uint64_t number, const backend::reply& answer) {
  const auto incarnation = life_.current();
  if (!incarnation || answer.zxid <= 0) return false;
  const auto before = std::exchange(incarnation->seen, std::max(incarnation->seen, answer.zxid));
  return number == welcome_number_ && answer.zxid < before;
}

awaitable<backend::reply> requests_in_flight::answer(exchange_ptr which) {
  while (!which->answer) {
    auto why = co_await which->done.wait();
    if (why == wake::cancelled) break;
  }
  backend::reply result;
  if (which->answer) {
    result = std::move(*which->answer);  // only one coroutine waits for each answer
  } else {
    result.error = asio::error::operation_aborted;
  }
  co_return result;
}

void requests_in_flight::answer_all(const error_code& error) {
  for (const auto& [number, each] : std::exchange(in_flight_, {})) {
    each->answer.emplace();
    each->answer->error = is_reply_lost(error) ? backend::loss_of(each->is_write, true) : error;
    each->done.notify();
  }
}

void requests_in_flight::send_first(bool is_new) {
  // This server may be behind what another server has shown us. So a session that is taken up again begins with a
  // catch-up: no later read on this connection shows an older state. A new session needs none: it is a transaction
  // itself: the sync behind it only asks the leader for a sign.
  welcome_ = send(is_new ? make_request(opcode::sync, "/") : backend::make_catch_up());
  welcome_number_ = is_new ? 0 : life_.count(&session_counters::requests, 0);
  create_root();
  if (is_new) look_at_root();
}

exchange_ptr requests_in_flight::take_welcome() {
  auto first = std::exchange(welcome_, nullptr);
  return first && !first->answer ? first : nullptr;
}

void requests_in_flight::create_root() {
  const auto& root = root_.text();
  if (!life_.options().create_root || root.empty()) return;
  for (std::size_t end = 1; end != root.npos;) {
    end = root.find('/', end + 1);
    auto create = make_request(opcode::create, root.substr(0, end));
    create.access = open_acl();
    connection_.link->submit(std::move(create), [this](const backend::reply& answer) {
      const auto& error = answer.error;
      connection_.has_lost_writes = connection_.has_lost_writes || is_reply_lost(error);
      // A server looks at the rights before it sees that the node is there.
      const bool is_told = !error || is_reply_lost(error) || error == errc::node_exists || error == errc::no_auth ||
                           error == errc::auth_required;
      if (!is_told) life_.log().operation_ended(opcode::create, root_.text(), error, "the root was not created");
    });
  }
}

/// Looks whether the root exists and lets us read it, because otherwise every operation fails for no visible reason.
/// Only the log tells it, so without a log nothing is sent. Else it is one read for each new ZooKeeper session, sent
/// together with the first request. The ACL is read, because it needs the right to read as the data does, and is small.
void requests_in_flight::look_at_root() {
  if (!life_.log().is_on() || root_.empty()) return;
  connection_.link->submit(make_request(opcode::get_acl, root_.text()),
                           [this](const backend::reply& answer) { life_.log().root_seen(root_.text(), answer.error); });
}

}  // namespace zkrecipes::detail
