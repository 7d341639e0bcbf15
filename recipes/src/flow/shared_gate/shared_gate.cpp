#include "shared_gate/shared_gate.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/flow/shared_gate.hpp>

#include "backend/begin_once.hpp"
#include "format/json_object.hpp"
#include "gate/sip_hash.hpp"
#include "line/line_spec.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view gate_markers[] = {"-gate-"};
constexpr std::string_view first_marker = "first-gate-";
constexpr std::string_view again_marker = "again-gate-";

/// The names in ZooKeeper are made of this hash, so it must never change.
gate_key hash_of(std::string_view key) { return sip_hash<2, 4>(gate_key())(key); }

void append_hex(std::string& to, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) to += "0123456789abcdef"[number >> shift & 0xf];
}

}  // namespace

gate_place::gate_place(const std::string& path, std::int32_t buckets, std::string_view key, arrival how) : how_(how) {
  const auto hash = hash_of(key);
  bucket_ = join(path, std::to_string(hash.low % static_cast<std::uint64_t>(buckets)));
  hash_ = "-";
  append_hex(hash_, hash.high);
  append_hex(hash_, hash.low);
  hash_ += '-';
}

line_spec gate_place::line() const {
  const auto marker = how_ == arrival::first ? first_marker : again_marker;
  // `protected_name` puts the first dash itself.
  return {bucket_, hash_.substr(1).append(marker), gate_markers};
}

bool gate_place::is_of_our_key(const member& each) const { return each.name.find(hash_) != each.name.npos; }

std::optional<std::size_t> gate_place::nearest_ahead(std::span<const member> members, std::size_t self) const {
  for (auto i = self; i-- > 0;) {
    if (is_of_our_key(members[i])) return i;
  }
  return std::nullopt;
}

std::optional<gate_place::cover> gate_place::find_cover(std::span<const member> members, std::size_t self) const {
  if (how_ != arrival::first) return std::nullopt;
  for (std::size_t i = 0; i < self; ++i) {
    if (!is_of_our_key(members[i]) || members[i].name.find(first_marker) == members[i].name.npos) continue;
    if (const auto ahead = nearest_ahead(members, i)) return cover{*ahead, i};
  }
  return std::nullopt;
}

awaitable<outcome<shared_gate_pass>> gate_entry::enter() {
  for (;;) {
    auto who = std::make_shared<waiter>(session_, place_.line(), data_);
    auto entered = co_await who->enter();
    auto& [error] = entered;
    if (error) co_return failed<shared_gate_pass>(error);
    ownership place(who->node());  // leaves again unless it is passed on
    bool again = false;
    error = co_await stand_in_line(*who, again);
    if (again) {
      // The old node can stand for a while yet, so the next one must not be declined in favour of it.
      if (who->node()->place().may_have_ghost) place_.treat_as_redelivered();
      continue;
    }
    if (error) co_return failed<shared_gate_pass>(error);
    const auto ends = get_scheduler()->deadline_of(safety_);
    who->node()->give_up_by(ends);
    co_return outcome<shared_gate_pass>(error, shared_gate_pass(std::move(place), ends));
  }
}

blocker gate_entry::who_first() const {
  return [this](std::span<const member> members, std::size_t self) -> std::optional<stretch> {
    if (const auto found = place_.nearest_ahead(members, self)) return stretch(*found);
    return std::nullopt;
  };
}

/// Waits for the turn, unless another message covers ours. `again`: this place is given up for a new one. That is so
/// where a second node of ours may exist, since others would take the two for one that processes and one that waits.
awaitable<error_code> gate_entry::stand_in_line(waiter& who, bool& again) {
  again = who.node()->place().may_have_ghost;
  if (again) co_return error_code();
  error_code error;
  if (!who.line().is_current()) error = co_await who.list();
  while (!error) {
    const auto by = place_.find_cover(who.line().members(), who.line().self());
    if (!by) break;
    error = co_await try_decline(who, *by, again);
    if (again) co_return error;
  }
  if (error) co_return error;
  const auto first = who_first();
  co_return co_await who.wait(first);
}

/// Errors: `declined`; none if it could not be done, or it is not known whether, and the line was listed again.
/// `again`: our node has gone, and it is not known why, because the reply was lost.
awaitable<error_code> gate_entry::try_decline(waiter& who, const gate_place::cover& by, bool& again) {
  const auto& node = who.node();
  const auto path_of = [&](std::size_t which) { return join(node->line().parent, who.line().members()[which].name); };
  transaction all;
  all.remove(node->path()).check(path_of(by.ahead)).check(path_of(by.waiting));
  auto pause = session_->backoff();
  for (;;) {
    auto leave = backend::make_multi(all);
    auto answer = co_await session_->perform(std::move(leave), retry::once, node->bound(), node->hold().valid_until());
    if (!answer.error) {
      node->disown();
      co_return errc::declined;
    }
    if (answer.throttled) {
      auto error = co_await session_->pause_before_retry(pause, node->bound());
      if (error) co_return error;
      continue;
    }
    if (is_reply_lost(answer.error)) {
      auto error = co_await who.list();
      again = error == errc::node_removed;
      co_return again ? error_code() : error;
    }
    if (answer.error == errc::no_node && backend::failed_at(answer) == 0) co_return errc::node_removed;
    if (answer.error == errc::no_node) co_return co_await who.list();
    co_return answer.error;
  }
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

shared_gate_pass::shared_gate_pass(ownership held, lease_clock::time_point ends) noexcept
    : held_(std::move(held)), ends_(ends) {}

lease_clock::time_point shared_gate_pass::valid_until() const { return std::min(held_.valid_until(), ends_); }

bool shared_gate_pass::valid() const { return !error(); }

transaction shared_gate_pass::leaving(transaction operations) const {
  return transaction().remove(path()).append(std::move(operations));
}

}  // namespace zkrecipes

namespace zkrecipes::detail {

/// The node at the path of a shared gate: it says by how many buckets the callers have agreed to hash.
/// Callers with another number of buckets would look for a key in another bucket, and two would process it. So the
/// number is stored with the gate, and each gate object compares its own once, before its first caller gets a node.
class gate_root : public std::enable_shared_from_this<gate_root> {
 public:
  static constexpr std::int32_t max_buckets = 1024;

  gate_root(core_ptr session, std::string path, std::int32_t buckets)
      : session_(std::move(session)), path_(std::move(path)), buckets_(buckets) {}

  /// Sees that the node has our number, and writes ours if it has none. Waits for a connection without a limit, as the
  /// create of a caller does. Errors: `size_mismatch`, `foreign_data`, `no_auth`, `no_node` (a parent was removed, or
  /// the root of the session is missing), and those of `core::perform`; the next call looks again then.
  awaitable<error_code> agree(diagnostic why);
  /// Another recipe stands in this bucket.
  error_code refuse_bucket(const std::string& bucket, const diagnostic& why) const;

  const core_ptr& session() const noexcept { return session_; }
  const std::string& path() const noexcept { return path_; }
  std::int32_t buckets() const noexcept { return buckets_; }

 private:
  /// One look, and all that wait for it: those that were there when it began. It belongs to none of them, so the
  /// cancellation of one leaves it to the others.
  struct shared_look {
    explicit shared_look(scheduler_ptr on) : changed(std::move(on)) {}
    bool is_over = false;
    error_code error{};
    diagnostic why{};
    condition changed;
  };

  static awaitable<void> look_for_all(std::shared_ptr<gate_root> self);
  awaitable<error_code> look(diagnostic why);
  awaitable<outcome<backend::reply>> read();
  awaitable<error_code> make();
  awaitable<error_code> claim(node_stat found, diagnostic why);
  error_code judge(const std::string& data, const diagnostic& why) const;
  error_code judge_children(const std::vector<std::string>& names, const diagnostic& why) const;
  error_code refuse_node(std::string_view because, const diagnostic& why) const;
  std::string record() const;

  const core_ptr session_;
  const std::string path_;
  const std::int32_t buckets_;
  bool agreed_ = false;
  bool looking_ = false;
  std::shared_ptr<shared_look> next_;  // the look that has not begun
};

using backend::make_request;
using backend::opcode;

namespace {

constexpr std::string_view gate_kind = "shared_gate";

/// The number of a bucket, as it is written in a name: without leading zeros.
std::optional<std::int64_t> bucket_number(const std::string& name) {
  std::int64_t number = 0;
  const auto end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, number);
  const bool is_number = read.ec == std::errc() && read.ptr == end && number >= 0;
  return is_number && std::to_string(number) == name ? std::optional(number) : std::nullopt;
}

}  // namespace

awaitable<error_code> gate_root::agree(diagnostic why) {
  if (agreed_) co_return error_code();
  if (!next_) next_ = std::make_shared<shared_look>(session_->get_scheduler());
  const auto mine = next_;
  begin_once(looking_, [this] { launch_detached(session_->strand(), look_for_all(shared_from_this())); });
  while (!mine->is_over) {
    if (co_await mine->changed.wait() == wake::cancelled) co_return asio::error::operation_aborted;
  }
  if (mine->error && !mine->why.text().empty()) why.note(mine->why.text());
  co_return mine->error;
}

awaitable<void> gate_root::look_for_all(std::shared_ptr<gate_root> self) {
  while (const auto present = std::exchange(self->next_, nullptr)) {
    if (!self->agreed_) {
      auto looking = self->look(present->why);
      present->error = co_await std::move(looking);
      self->agreed_ = !present->error;
    }
    present->is_over = true;
    present->changed.notify();
  }
  self->looking_ = false;
}

/// A write may have been executed although its reply was lost, and somebody else may be quicker, so the node is read
/// again until it says what was agreed.
awaitable<error_code> gate_root::look(diagnostic why) {
  constexpr int most_rounds = 10;
  error_code error;
  for (int round = 0; round < most_rounds; ++round) {
    auto reading = read();
    auto [unread, node] = co_await std::move(reading);
    if (unread) co_return unread;
    const bool is_missing = node.error == errc::no_node;
    if (node.error && !is_missing) co_return node.error;
    if (!is_missing && !node.data.empty()) co_return judge(node.data, why);
    auto writing = is_missing ? make() : claim(node.stat, why);
    error = co_await std::move(writing);
    const bool again = error == errc::node_exists || error == errc::bad_version || is_reply_lost(error);
    if (!again) co_return error;
  }
  co_return error;
}

/// Behind a catch-up: a server that lags could show a node that others have replaced since.
awaitable<outcome<backend::reply>> gate_root::read() {
  std::vector<backend::request> all;
  all.push_back(make_request(opcode::get, path_));
  auto answered = co_await perform_latest(session_, std::move(all), persistence::endless);
  auto& [error, replies] = answered;
  if (error) co_return failed<backend::reply>(error);
  co_return outcome<backend::reply>(error, std::move(replies.front()));
}

/// The record is written twice, so its node never has the version 0 of one that somebody else has just made: a claim
/// by the version can not hit it.
awaitable<error_code> gate_root::make() {
  auto error = co_await session_->ensure_path(std::string(parent_of(path_)));
  if (error) co_return error;
  transaction both;
  both.create(path_, record()).set(path_, record());
  auto made = co_await session_->perform(backend::make_multi(std::move(both)), retry::always);
  co_return made.error;
}

/// Takes a node without data, which an older version or an operator has made. It has to be empty, or to have buckets
/// below our number only.
awaitable<error_code> gate_root::claim(node_stat found, diagnostic why) {
  if (found.ephemeral_owner != 0) co_return refuse_node("this node does not stay", why);
  std::vector<backend::request> all;
  all.push_back(make_request(opcode::children, path_));
  auto listed = co_await perform_together(session_, std::move(all), persistence::endless);
  auto error = std::get<0>(listed) ? std::get<0>(listed) : std::get<1>(listed).front().error;
  if (error == errc::no_node) co_return errc::bad_version;  // it has been removed since: look again
  if (error) co_return error;
  error = judge_children(std::get<1>(listed).front().children, why);
  if (error) co_return error;
  auto set = make_request(opcode::set, path_);
  set.data = record();
  set.version = found.version;
  auto written = co_await session_->perform(std::move(set), retry::always);
  if (written.error == errc::no_node) co_return errc::bad_version;
  if (written.error || written.stat.czxid == found.czxid) co_return written.error;
  co_return refuse_node("another client has made this node anew while the number of buckets was written", why);
}

std::string gate_root::record() const { return json_object::of_kind(gate_kind).set("buckets", buckets_).to_text(); }

error_code gate_root::judge(const std::string& data, const diagnostic& why) const {
  const auto record = json_object::parse(data);
  const auto found = record && record->is(gate_kind) ? record->integer("buckets", 1, max_buckets) : std::nullopt;
  if (!found) return refuse_node("the data of this node is not of a shared gate: use another path", why);
  if (*found == buckets_) return error_code();
  why.note("shared gate " + path_ + ": it has " + std::to_string(*found) + " buckets, and was opened here with " +
           std::to_string(buckets_) + ": set shared_gate_options::buckets to " + std::to_string(*found) +
           ", or remove the node with its buckets while no process uses the gate");
  return errc::size_mismatch;
}

error_code gate_root::judge_children(const std::vector<std::string>& names, const diagnostic& why) const {
  std::int64_t highest = -1;
  for (const auto& each : names) {
    const auto number = bucket_number(each);
    if (!number) return refuse_node("the node has a child that is no bucket, " + each + ": use another path", why);
    highest = std::max(highest, *number);
  }
  if (highest < buckets_) return error_code();
  why.note("shared gate " + path_ + ": it has a bucket " + std::to_string(highest) + ", and was opened here with " +
           std::to_string(buckets_) + " buckets: set shared_gate_options::buckets to the number of the others, or " +
           "remove the node with its buckets while no process uses the gate");
  return errc::size_mismatch;
}

error_code gate_root::refuse_node(std::string_view because, const diagnostic& why) const {
  why.note("shared gate " + path_ + ": " + std::string(because));
  return errc::foreign_data;
}

error_code gate_root::refuse_bucket(const std::string& bucket, const diagnostic& why) const {
  return refuse_node("another recipe uses " + bucket, why);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

void require_options(const shared_gate_options& options) {
  require_id("shared_gate_options::id", options.id);
  if (options.buckets < 1 || options.buckets > gate_root::max_buckets) {
    throw std::invalid_argument("shared_gate_options::buckets is " + std::to_string(options.buckets) +
                                ": it must be 1 to " + std::to_string(gate_root::max_buckets));
  }
  if (lease_clock::duration(options.safety).count() <= 0) {
    throw std::invalid_argument("shared_gate_options::safety is not positive");
  }
}

struct shared_gate_caller {
  std::string key;
  arrival how;
  std::string data;
  time_budget safety;
  diagnostic why;
};

awaitable<outcome<shared_gate_pass>> enter(std::shared_ptr<gate_root> gate, shared_gate_caller who) {
  auto agreeing = gate->agree(who.why);
  auto error = co_await std::move(agreeing);
  if (error) co_return failed<shared_gate_pass>(error);
  gate_place place(gate->path(), gate->buckets(), who.key, who.how);
  gate_entry entry(gate->session(), place, who.data, who.safety);
  auto entered = co_await entry.enter();
  if (std::get<0>(entered) == errc::foreign_data) gate->refuse_bucket(place.line().parent, who.why);
  co_return entered;
}

}  // namespace

shared_gate::shared_gate(session over, std::string path, shared_gate_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(std::move(options)) {
  require_session(session_);
  require_path("gate path", path_);
  if (path_ == "/") reject("gate path", path_, "it is the root");
  require_options(options_);
  root_ = std::make_shared<gate_root>(session_.get_core(), path_, options_.buckets);
}

void shared_gate::start_enter(handler_for<void(error_code, shared_gate_pass)> h, root_ptr root, std::string key,
                              arrival how, shared_gate_options options, diagnostic why) {
  const auto on = root->session()->get_scheduler();
  shared_gate_caller who{std::move(key), how, id_data(options.id), options.safety, std::move(why)};
  launch(*on, std::move(h), enter(std::move(root), std::move(who)));
}

}  // namespace zkrecipes
