#include "balance/pacer.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "balance/pending_move.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view limit_kind = "shared_balance";
constexpr std::string_view member_kind = "shared_balance_member";
constexpr std::int64_t largest_steps = std::int64_t{1} << 53;

}  // namespace

std::string serialize(const limit_record& record) {
  auto text = json_object::of_kind(limit_kind);
  text.set("range", record.range).set("limit", record.limit);
  return text.add(record.unknown_fields).to_text();
}

std::optional<limit_record> parse_limit_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(limit_kind)) return std::nullopt;
  const auto range = read->integer("range", 1, largest_range);
  if (!range) return std::nullopt;
  const auto limit = read->integer("limit", *range, largest_steps);
  if (!limit) return std::nullopt;
  return limit_record{*range, *limit, read->without({"range", "limit"})};
}

std::string serialize(const pace_member_record& record) {
  auto text = json_object::of_kind(member_kind);
  text.set("id", record.id);
  if (record.floor) text.set("floor", *record.floor);
  return text.to_text();
}

std::optional<pace_member_record> parse_pace_member_record(const std::string& data) {
  const auto read = json_object::parse(data);
  if (!read || !read->is(member_kind)) return std::nullopt;
  const auto id = read->text("id");
  if (!id) return std::nullopt;
  pace_member_record record{*id, std::nullopt};
  if (!read->has("floor")) return record;
  record.floor = read->integer("floor", 0, largest_steps);
  if (!record.floor) return std::nullopt;
  return record;
}

using backend::make_request;
using backend::opcode;

namespace {

/// Both at once, so that one without the other means that somebody has removed the other. The limit is written twice:
/// its node then never has the version of one that somebody else has just made, so a write by the version can not hit
/// that one.
awaitable<error_code> make_nodes(pace_place_ptr where, std::int64_t known) {
  auto error = co_await where->session->ensure_path(where->root);
  if (error) co_return error;
  const auto data = serialize(limit_record{where->range, std::max(known, where->range)});
  transaction both;
  both.create(where->limit(), data).set(where->limit(), data).create(where->members());
  auto made = co_await where->session->perform(backend::make_multi(std::move(both)), retry::always);
  if (made.error == errc::node_exists && backend::failed_at(made) == 2) co_return errc::no_node;
  co_return is_write_conflict(made.error) ? error_code() : made.error;  // the caller looks again
}

}  // namespace

limit_sight read_limit(const pace_place& where, const backend::reply& node) {
  limit_sight seen;
  seen.error = node.error;
  if (node.error) return seen;
  auto record = parse_limit_record(node.data);
  if (!record) {
    seen.error = errc::foreign_data;
    return seen;
  }
  if (record->range != where.range) seen.error = errc::size_mismatch;
  seen.record = std::move(*record);
  seen.version = node.stat.version;
  seen.mzxid = node.stat.mzxid;
  return seen;
}

awaitable<limit_sight> find_limit(pace_place_ptr where, std::int64_t known) {
  constexpr int most_rounds = 10;
  limit_sight seen;
  for (int round = 0; round < most_rounds; ++round) {
    auto node = co_await where->session->perform(make_request(opcode::get, where->limit()), retry::always);
    seen = read_limit(*where, node);
    if (seen.error != errc::no_node) co_return seen;
    auto error = co_await make_nodes(where, known);
    if (error) {
      seen.error = error;
      co_return seen;
    }
  }
  co_return seen;
}

namespace {

constexpr std::size_t most_at_once = 100;

/// ZooKeeper marks containers and nodes with a time to live in the field of the owner, too.
bool is_of_session(const node_stat& stat) {
  constexpr std::uint64_t container = 0x8000000000000000, ttl = 0xff0000, below_ttl = 40;
  const auto owner = static_cast<std::uint64_t>(stat.ephemeral_owner);
  return owner != 0 && owner != container && owner >> below_ttl != ttl;
}

std::set<std::string_view> those_aside(const std::vector<std::string>& names) {
  std::set<std::string_view> found;
  for (const auto& each : names) {
    if (!each.starts_with(pace_place::aside_prefix)) continue;
    found.insert(std::string_view(each).substr(pace_place::aside_prefix.size()));
  }
  return found;
}

}  // namespace

pacer::pacer(pace_place_ptr where, shared_pace_ptr pace, incarnation_ptr bound, std::string own_name)
    : where_(std::move(where)),
      pace_(std::move(pace)),
      bound_(std::move(bound)),
      own_name_(std::move(own_name)),
      changed_(where_->session->get_scheduler()) {}

void pacer::on_list(const std::vector<std::string>& names, std::int32_t version) {
  list_version_ = version;
  member_map present;
  for (const auto& each : names) {
    if (!each.starts_with(pace_place::member_prefix) || each == own_name_) continue;
    const auto known = others_.find(each);
    present[each] = known == others_.end() ? member() : std::move(known->second);
  }
  const auto aside = those_aside(names);
  for (auto& [name, each] : present) each.is_aside = aside.contains(name);
  is_aside_ = is_aside_ && aside.contains(own_name_);  // an operator may have removed it
  others_ = std::move(present);
  update_first();
  changed_.notify();
}

/// The first of those ahead of us that may be the pacer.
pacer::member_map::const_iterator pacer::rival() const {
  const auto us = others_.lower_bound(own_name_);
  const auto found = std::find_if(others_.begin(), us, [](const auto& each) { return each.second.may_be_pacer(); });
  return found == us ? others_.end() : found;
}

void pacer::update_first() {
  is_first_ = !is_aside_ && rival() == others_.end();
  if (is_first_) return;
  for (auto& [name, each] : others_) each.hint.reset();  // only the pacer watches the floors
}

/// An answer that was overtaken by that of our own write is an old one.
void pacer::on_limit(const limit_sight& seen) {
  if (seen.mzxid < known_.mzxid) return;
  known_ = seen;
  changed_.notify();
}

/// The floors that may have changed. None while one is not known: it alone holds the limit.
std::vector<std::string> pacer::outdated() const {
  std::vector<std::string> names;
  if (!sees_all()) return names;
  for (const auto& [name, each] : others_) {
    if (each.is_hidden || names.size() == most_at_once) continue;
    if (!each.hint || each.hint->fired()) names.push_back(name);
  }
  return names;
}

/// Nothing while a newcomer holds the limit, or if it would not be higher.
std::optional<std::int64_t> pacer::next_limit() const {
  auto lowest = pace_->promise_floor();
  if (!lowest) return std::nullopt;
  for (const auto& [name, each] : others_) {
    if (!each.is_member) continue;
    if (!each.floor) return std::nullopt;
    lowest = std::min(*lowest, *each.floor);
  }
  const auto limit = *lowest + where_->range;
  return limit > known_.record.limit ? std::optional(limit) : std::nullopt;
}

awaitable<pacer::result> pacer::work() {
  if (list_version_ < 0 || known_.mzxid == 0) co_return result();
  if (is_aside_ != is_to_stand_aside()) {
    auto standing = stand_aside(!is_aside_);
    co_return co_await std::move(standing);
  }
  auto hidden = due_hidden();
  if (!hidden.empty()) co_return co_await read(std::move(hidden));
  if (is_aside_) co_return result();
  if (const auto ahead = rival(); ahead != others_.end()) {
    auto unread = next_unread();
    if (!unread.empty()) co_return co_await examine(std::move(unread));
    looks_ahead_ = 1;
    co_return result();
  }
  looks_ahead_ = 1;
  auto names = outdated();
  if (!names.empty()) co_return co_await read(std::move(names));
  const auto limit = next_limit();
  if (!limit) co_return result();
  co_return co_await write(*limit);
}

/// The first that may be the pacer, and those behind it that have not been read either. None if it has been read.
std::vector<std::string> pacer::next_unread() const {
  std::vector<std::string> names;
  const auto us = others_.lower_bound(own_name_);
  for (auto each = rival(); each != us && !each->second.was_read && names.size() < looks_ahead_; ++each) {
    names.push_back(each->first);
  }
  return names;
}

awaitable<pacer::result> pacer::examine(std::vector<std::string> names) {
  std::vector<backend::request> looks;
  for (const auto& each : names) looks.push_back(make_request(opcode::get, where_->member(each)));
  auto replies = co_await where_->session->perform_all(std::move(looks), bound_);
  auto accepting = accept_all(names, std::move(replies));
  auto error = co_await std::move(accepting);
  if (!error) looks_ahead_ = std::min(looks_ahead_ * 2, most_at_once);
  if (!error && next_look_ <= where_->session->now()) time_next_look(names);
  update_first();
  co_return result{error, true};
}

awaitable<pacer::result> pacer::read(std::vector<std::string> names) {
  std::vector<backend::request> looks;
  for (const auto& each : names) {
    const auto path = where_->member(each);
    others_[each].hint = where_->session->arm(watch_kind::data, path, changed_);
    looks.push_back(make_request(opcode::get, path, true));
  }
  auto replies = co_await where_->session->perform_all(std::move(looks), bound_);
  auto accepting = accept_all(names, std::move(replies));
  auto error = co_await std::move(accepting);
  if (!error) time_next_look(names);
  update_first();
  co_return result{error, true};
}

awaitable<error_code> pacer::accept_all(std::vector<std::string> names, std::vector<backend::reply> nodes) {
  error_code error;
  std::vector<std::string> hidden;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = others_.find(names[i]);
    if (found == others_.end()) continue;
    if (nodes[i].error == errc::no_node) {  // it is in the next list no more
      others_.erase(found);
      continue;
    }
    const auto refused = found->second.accept(nodes[i]);
    if (refused == errc::no_auth) {
      hidden.push_back(std::move(names[i]));
    } else if (refused) {
      error = refused;
    }
  }
  if (!error && !hidden.empty()) {
    auto identifying = identify(std::move(hidden));
    error = co_await std::move(identifying);
  }
  co_return error;
}

/// `exists` needs no right, and tells whether a session owns the node. If none does the node is no member. A node keeps
/// its owner, so one answer is enough.
awaitable<error_code> pacer::identify(std::vector<std::string> hidden) {
  std::erase_if(hidden, [this](const auto& each) {
    const auto found = others_.find(each);
    return found == others_.end() || found->second.is_identified;
  });
  if (hidden.empty()) co_return error_code();
  std::vector<backend::request> looks;
  for (const auto& each : hidden) looks.push_back(make_request(opcode::exists, where_->member(each)));
  auto replies = co_await where_->session->perform_all(std::move(looks), bound_);
  error_code error;
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const auto found = others_.find(hidden[i]);
    if (found == others_.end()) continue;
    if (replies[i].error == errc::no_node) {
      others_.erase(found);
    } else if (replies[i].error) {
      error = replies[i].error;
    } else {
      found->second.is_member = is_of_session(replies[i].stat);
      found->second.is_identified = true;
    }
  }
  co_return error;
}

/// A node that no session owns is no member.
error_code pacer::member::accept(const backend::reply& node) {
  if (node.error == errc::no_auth) {
    is_hidden = true;
    was_read = true;
    is_foreign = false;
    floor.reset();
  }
  if (node.error) {
    hint.reset();
    return node.error;
  }
  const auto record = parse_pace_member_record(node.data);
  is_hidden = false;
  was_read = true;
  is_identified = true;
  is_member = is_of_session(node.stat);
  floor = record ? record->floor : std::nullopt;
  is_foreign = is_member && !record;
  return {};
}

awaitable<pacer::result> pacer::write(std::int64_t limit) {
  auto next = known_;
  next.record.limit = limit;
  transaction both;
  both.check(where_->members(), list_version_).set(where_->limit(), serialize(next.record), known_.version);
  both.check(where_->member(own_name_));  // nodes that were made anew can have the versions of the old ones
  auto written = co_await where_->session->perform(backend::make_multi(std::move(both)), retry::always, bound_);
  if (is_write_conflict(written.error)) co_return result{{}, true, true};
  if (written.error) co_return result{written.error, true};
  next.version = written.results[1].stat.version;
  next.mzxid = written.results[1].stat.mzxid;
  on_limit(next);
  pace_->raise(limit);
  co_return result{{}, true};
}

// The pacer and the members whose nodes it has no right to read.

namespace {
constexpr std::size_t most_hidden_looks = 100;
constexpr std::chrono::seconds first_pause{1};
constexpr std::chrono::seconds longest_pause{30};
}  // namespace

bool pacer::sees_all() const {
  return std::ranges::none_of(others_, [](const auto& each) { return each.second.is_in_the_way(); });
}

/// Also where the member that we can not read is the only other one: it may be able to read us.
bool pacer::is_to_stand_aside() const {
  if (sees_all()) return false;
  const auto may_pace = [](const auto& each) {
    return each.second.is_member && !each.second.is_foreign && !each.second.is_aside;
  };
  return is_aside_ || (is_first_ && std::ranges::any_of(others_, may_pace));
}

/// The node goes with the session, or with the membership.
awaitable<pacer::result> pacer::stand_aside(bool aside) {
  may_be_aside_ = true;
  auto what = make_request(aside ? opcode::create : opcode::remove, where_->aside(own_name_));
  if (aside) what.mode = create_mode::ephemeral;
  auto done = co_await where_->session->perform(std::move(what), retry::always, bound_);
  const bool is_done = done.error == (aside ? errc::node_exists : errc::no_node);
  if (done.error && !is_done) co_return result{done.error, true};
  is_aside_ = aside;
  update_first();
  co_return result{{}, true};
}

/// The first of the nodes that can not be read, if it is time. One is enough to hold the limit; further ones are read
/// once that one can be.
std::vector<std::string> pacer::due_hidden() const {
  std::vector<std::string> names;
  if (next_look() > where_->session->now()) return names;
  for (const auto& [name, each] : others_) {
    if (each.is_in_the_way() && names.size() < hidden_looks_) names.push_back(name);
  }
  return names;
}

/// Counted from the end of a look, and longer after each that was refused.
void pacer::time_next_look(const std::vector<std::string>& read) {
  const auto is_in_the_way = [this](const std::string& name) {
    const auto found = others_.find(name);
    return found != others_.end() && found->second.is_in_the_way();
  };
  const bool was_refused = std::ranges::any_of(read, is_in_the_way);
  hidden_looks_ = was_refused ? 1 : std::min(hidden_looks_ * 2, most_hidden_looks);
  hidden_pause_ = was_refused ? std::clamp(hidden_pause_ * 2, first_pause, longest_pause) : std::chrono::seconds(0);
  next_look_ = where_->session->now() + hidden_pause_;
}

pacer::obstacle pacer::find_obstacle() const {
  if (!is_first_ && !is_aside_) return {};
  for (const auto& [name, each] : others_) {
    if (each.is_in_the_way()) return {errc::no_auth, where_->member(name)};
    if (is_first_ && each.is_foreign) return {errc::foreign_data, where_->member(name)};
  }
  return {};
}

lease_clock::time_point pacer::next_look() const {
  return (is_first_ || is_aside_) && !sees_all() ? next_look_ : never;
}

}  // namespace zkrecipes::detail
