#include "shards/planner.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "election/term_record.hpp"
#include "line/line_spec.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"
#include "shards/group_frame.hpp"
#include "shards/shard_holding.hpp"
#include "shards/shard_quarantine.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::int64_t most_returns = 2;  // times that a member may come back
constexpr int longest_memory = 20;        // times `soon_`

}  // namespace

/// A member that an earlier planner has given orders has its number there.
member_returns::incarnation member_returns::join(const listed_member& member, lease_clock::time_point now) const {
  incarnation fresh{member.node, member.sequence, member.joined_ms, member.record.orders.returns};
  fresh.first_seen = now;
  const auto found = last_.find(member.record.id);
  if (found == last_.end() || member.record.orders.plan != 0) return fresh;
  const auto& before = found->second;
  const bool was_short = member.joined_ms - before.joined_ms < soon_.count();
  const bool was_in_vain = before.has_expected && !before.has_begun;
  fresh.returns = !before.is_orderly && (was_short || was_in_vain) ? before.returns + 1 : 0;
  return fresh;
}

void member_returns::look(std::vector<listed_member>& members, const std::vector<away_record>& away,
                          lease_clock::time_point now, lease_clock::time_point& next) {
  std::vector<listed_member*> all;
  for (auto& each : members) all.push_back(&each);
  std::ranges::sort(all, {}, [](const listed_member* each) { return each->sequence; });
  for (auto* each : all) {
    const auto& record = each->record;
    const auto found = last_.find(record.id);
    const bool is_known = found != last_.end() && found->second.sequence >= each->sequence;
    if (is_known && found->second.node != each->node) continue;  // one that has joined again since
    if (!is_known) last_[record.id] = join(*each, now);
    auto& known = last_[record.id];
    known.last_seen = now;
    known.has_begun = known.has_begun || !record.orders.own.empty();
    known.has_expected = known.has_expected || !record.orders.expect.empty();
    known.is_orderly = known.is_orderly || record.is_draining;
    each->record.orders.returns = known.returns;
    const auto until = known.first_seen + soon_;
    each->is_on_probation = known.returns >= most_returns && !known.has_begun && now < until;
    if (each->is_on_probation) next = std::min(next, until);
  }
  for (const auto& each : away) {
    const auto found = last_.find(each.id);
    if (found != last_.end() && found->second.node == each.node) found->second.is_orderly = true;
  }
  std::erase_if(last_, [&](const auto& each) { return now >= each.second.last_seen + longest_memory * soon_; });
}

using backend::opcode;

awaitable<error_code> moving_shards::look(shard_assignment& plan, lease_clock::time_point& next) {
  const auto moves = plan.moves_under_way();
  std::set<std::uint32_t> present;
  std::vector<std::uint32_t> outdated;
  for (const auto& each : moves) {
    present.insert(each.shard);
    const auto& hint = slots_[each.shard].hint;
    if (!hint || hint->fired()) outdated.push_back(each.shard);
  }
  std::erase_if(slots_, [&](const auto& each) { return !present.contains(each.first); });
  error_code error;
  if (!outdated.empty()) error = co_await read(std::move(outdated));
  const auto now = group_->session->now();
  for (const auto& each : moves) {
    auto& known = slots_[each.shard];
    if (known.owner == each.to) plan.mark_begun(each.shard);
    const bool is_news = std::exchange(known.to, each.to) != each.to;
    if (known.free_since == never) continue;
    if (is_news) known.free_since = now;
    const auto overdue_at = known.free_since + group_->session->options().timeout;
    if (now >= overdue_at) {
      plan.mark_stuck(each.shard);
    } else {
      next = std::min(next, overdue_at);
    }
  }
  co_return error;
}

/// Everything that can be learned is learned, also if some of it can not.
awaitable<error_code> moving_shards::read(std::vector<std::uint32_t> shards) {
  const auto& session = group_->session;
  std::vector<backend::request> looks;
  for (const auto each : shards) {
    auto path = group_->where.record(each);
    slots_[each].hint = session->arm(watch_kind::data, path, changed_);
    looks.push_back(make_request(opcode::get, std::move(path), true));
  }
  auto answers = co_await session->perform_all(std::move(looks));
  error_code error;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto refused = accept(shards[i], answers[i]);
    if (refused) error = refused;
  }
  co_return error;
}

/// A record that may not be read tells nothing: then the shard counts as one that is free.
error_code moving_shards::accept(std::uint32_t shard, const backend::reply& node) {
  auto& seen = slots_[shard];
  seen.owner.clear();
  const bool is_told = !node.error || node.error == errc::no_node || node.error == errc::no_auth;
  if (node.error && node.error != errc::no_auth) seen.hint.reset();
  if (!is_told) return node.error;
  const auto record = node.error ? std::nullopt : parse_record(node.data);
  if (record && !record->finished()) seen.owner = member_of(*record);
  if (!seen.owner.empty()) {
    seen.free_since = never;
  } else if (seen.free_since == never) {
    seen.free_since = group_->session->now();
  }
  return {};
}

awaitable<error_code> away_notes::look() {
  if (hint_ && !hint_->fired()) co_return error_code();
  auto error = co_await read();
  if (error) hint_.reset();
  co_return error;
}

awaitable<error_code> away_notes::read() {
  const auto& session = group_->session;
  auto path = group_->where.away();
  const auto deadline = session->now() + session->options().timeout;
  hint_ = session->arm(watch_kind::children, path, changed_);
  auto list = make_request(opcode::children, path, true);
  auto listed = co_await session->perform(std::move(list), retry::always, nullptr, deadline);
  if (listed.error == errc::no_node) {
    notes_.clear();
    hint_.reset();  // a list that is missing sets no watch
    co_return co_await session->ensure_path(path);
  }
  if (listed.error) co_return listed.error;
  std::vector<backend::request> reads;
  for (const auto& each : listed.children) reads.push_back(make_request(opcode::get, join(path, each)));
  auto nodes = co_await session->perform_all(std::move(reads), nullptr, deadline);
  std::map<std::string, note> fresh;
  for (auto& each : nodes) {
    if (each.error == errc::no_node || each.error == errc::no_auth) continue;
    if (each.error) co_return each.error;
    auto record = parse_away_record(each.data);
    if (!record) continue;
    const auto known = notes_.find(record->id);
    const bool is_same = known != notes_.end() && known->second.stat.mzxid == each.stat.mzxid;
    const auto since = is_same ? known->second.since : session->now();
    auto id = record->id;
    fresh.insert_or_assign(std::move(id), note{std::move(*record), each.stat, since});
  }
  notes_ = std::move(fresh);
  co_return error_code();
}

std::vector<away_record> away_notes::waiting(lease_clock::time_point& next) const {
  std::vector<away_record> all;
  for (const auto& each : notes_) {
    const auto end = each.second.since + each.second.record.grace;
    if (group_->session->now() >= end) continue;
    next = std::min(next, end);
    all.push_back(each.second.record);
  }
  return all;
}

std::vector<std::string> away_notes::over() const {
  std::vector<std::string> all;
  for (const auto& [id, each] : notes_) {
    if (group_->session->now() >= each.since + each.record.grace) all.push_back(id);
  }
  return all;
}

std::optional<std::int32_t> away_notes::version_of(const std::string& id) const {
  const auto found = notes_.find(id);
  if (found == notes_.end()) return std::nullopt;
  return found->second.stat.version;
}

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds retry_pause = 500ms;
constexpr auto map_pause = 1s;
constexpr std::chrono::milliseconds map_retry_pause = 10s;
constexpr auto view_interval = 5ms;
constexpr std::size_t most_orders = 100;  // in a transaction, as are removals
constexpr std::size_t most_order_bytes = 256 * 1024;
constexpr int times_to_prove = 3;  // the session's timeout: so long a member stays that does not crash again and again
constexpr int longest_collection = 5;  // times `collect`, while members keep joining

/// Whether a transaction with this answer can succeed without one of its operations, or in two parts.
bool concerns_a_part(const error_code& refusal) {
  return is_write_conflict(refusal) || refusal == errc::not_empty || refusal == errc::too_large;
}

children_reader_ptr begin_view(const core_ptr& session, std::string path) {
  children_view_options options;
  options.interval = view_interval;
  auto view = std::make_shared<children_reader>(session, std::move(path), std::move(options));
  view->start();
  return view;
}

}  // namespace

planner::planner(group_frame_ptr group, term_ptr term, trouble_listener on_trouble)
    : group_(std::move(group)),
      term_(std::move(term)),
      on_trouble_(std::move(on_trouble)),
      changed_(session()->get_scheduler()),
      news_(session()->get_scheduler()),
      moving_(group_, changed_),
      away_(group_, changed_),
      returns_(times_to_prove * session()->options().timeout),
      terms_(group_->options.calm) {}

awaitable<void> planner::run() {
  members_ = begin_view(session(), group_->where.members());
  quarantines_ = begin_view(session(), group_->where.quarantines());
  notes_ = begin_view(session(), group_->where.notes());
  const forwarding member_changes(members_->told(), changed_);
  const forwarding quarantine_changes(quarantines_->told(), changed_);
  const forwarding note_changes(notes_->told(), changed_);
  const forwarding term_changes(term_->changed(), changed_);
  listener_.run(session()->strand(), owning(shared_from_this(), &planner::listen));
  while (!term_->reason()) {
    has_news_ = false;
    trouble_.clear();
    const auto next = co_await step();
    on_trouble_(trouble_);
    if (!has_news_ && !term_->reason()) co_await news_.wait(next);
  }
  listener_.stop();
  for (const auto& each : {members_, quarantines_, notes_}) each->stop_later();
}

/// Keeps what is told while a step is under way.
awaitable<void> planner::listen() {
  for (;;) {
    auto why = co_await changed_.wait();
    has_news_ = true;
    news_.notify();
    if (why == wake::cancelled) co_return;
  }
}

/// Completes with the time of the next step, if nothing is told before.
awaitable<planner::time_point> planner::step() {
  auto error = co_await check_records();
  if (!error) error = co_await check_frozen();
  if (!error) error = co_await check_map();
  if (error) co_return again(error);
  if (!can_see_members()) co_return never;
  auto members = members_->snapshot();
  error = co_await away_.look();
  if (error) co_return again(error);
  co_return co_await plan(std::move(members));
}

awaitable<error_code> planner::check_records() {
  if (records_hint_ && !records_hint_->fired()) co_return error_code();
  auto path = group_->where.records();
  records_hint_ = session()->arm(watch_kind::children, path, changed_);
  auto list = make_request(opcode::children, path, true);
  const auto deadline = now() + session()->options().timeout;
  auto listed = co_await session()->perform(std::move(list), retry::always, nullptr, deadline);
  if (listed.error == errc::no_node) listed.error = co_await session()->ensure_path(path);
  if (!listed.error && listed.children.empty()) records_hint_.reset();  // the watch may not stand
  const auto missing = missing_records(*group_, listed.children);
  if (!listed.error && !missing.empty()) {
    auto made = missing;
    listed.error = co_await make_records(group_, std::move(made));
  }
  if (listed.error) records_hint_.reset();
  if (!listed.error) remade_.insert(missing.begin(), missing.end());
  co_return listed.error;
}

awaitable<error_code> planner::check_frozen() {
  if (frozen_hint_ && !frozen_hint_->fired()) co_return error_code();
  auto path = group_->where.frozen();
  frozen_hint_ = session()->arm(watch_kind::data, path, changed_);
  auto look = make_request(opcode::exists, path, true);
  const auto deadline = now() + session()->options().timeout;
  auto seen = co_await session()->perform(std::move(look), retry::always, nullptr, deadline);
  const bool is_told = !seen.error || seen.error == errc::no_node;
  if (is_told) is_frozen_ = !seen.error;
  if (!is_told) frozen_hint_.reset();
  co_return is_told ? error_code() : seen.error;
}

/// Somebody who edits or removes the map would leave the routers with that until the next plan.
awaitable<error_code> planner::check_map() {
  if (map_hint_ && !map_hint_->fired()) co_return error_code();
  auto path = group_->where.map();
  map_hint_ = session()->arm(watch_kind::data, path, changed_);
  auto look = make_request(opcode::exists, path, true);
  const auto deadline = now() + session()->options().timeout;
  auto seen = co_await session()->perform(std::move(look), retry::always, nullptr, deadline);
  const bool is_told = !seen.error || seen.error == errc::no_node;
  if (!is_told) map_hint_.reset();
  if (is_told && (seen.error || seen.stat.mzxid != map_written_)) shown_map_.clear();
  co_return is_told ? error_code() : seen.error;
}

/// The time of the next step behind one that failed.
planner::time_point planner::again(const error_code& error) {
  trouble_ = error;
  return now() + retry_pause;
}

bool planner::can_see_members() {
  for (const auto& each : {members_, quarantines_}) {
    if (each->error()) trouble_ = each->error();
    if (!each->is_ready()) return false;
  }
  return can_see_notes() && shows_what_was_written(members_->snapshot());
}

/// If the notes may not be read, those count that were read last: shards of members that are gone need new owners.
bool planner::can_see_notes() {
  if (notes_->error()) trouble_ = notes_->error();
  return notes_->is_ready() || notes_->error() == errc::no_auth;
}

/// A plan that is made of orders which were replaced already would replace them again.
bool planner::shows_what_was_written(const children_snapshot& members) const {
  return std::ranges::all_of(written_, [&](const auto& each) {
    const auto node = members.find(each.first);
    return !node || node->stat.version >= each.second;
  });
}

/// Most members are as they were in the step before.
std::vector<listed_member> planner::listed(const children_snapshot& members) {
  const auto line = group_->where.line();
  std::map<child_ptr, std::optional<member_record>> known;
  std::vector<listed_member> all;
  for (const auto& each : members.nodes) {
    auto found = parsed_.extract(each);
    if (found.empty()) {
      known.emplace(each, parse_member_record(each->data));
    } else {
      known.insert(std::move(found));
    }
    const auto& record = known.at(each);
    const auto sequence = parse_sequence(each->name, line.accepted);
    if (record && sequence) {
      all.push_back({each->name, each->stat.version, *sequence, *record, each->stat.ctime});
    }
  }
  parsed_ = std::move(known);
  return all;
}

shard_set planner::quarantined() const {
  shard_set all;
  for (const auto& each : quarantines_->snapshot().nodes) {
    const auto number = parse_shard_name(each->name);
    if (number) all.insert(*number);
  }
  return all;
}

operator_notes planner::wishes() const {
  operator_notes all;
  for (const auto& each : notes_->snapshot().nodes) all.add(each->name, each->data);
  return all;
}

/// When the next plan may be made: members that join at about the same time are planned for together.
planner::time_point planner::due_at(const shard_assignment& plan) {
  const auto present = plan.newcomers();
  for (const auto& each : present) {
    if (known_newcomers_.contains(each)) continue;
    if (known_newcomers_.empty()) first_came_ = now();
    last_came_ = now();
    known_newcomers_.insert(each);
  }
  if (present.empty()) known_newcomers_.clear();
  if (present.empty() || plan.has_orphans()) return now();
  const auto& collect = group_->options.collect;
  return std::min(last_came_ + collect, first_came_ + longest_collection * collect);
}

/// A member whose data can not be read is there all the same.
std::map<std::uint32_t, std::string> planner::gone_owners(const children_snapshot& members) const {
  const auto& [nodes, owner_of] = last_owners_;
  std::vector<bool> is_gone;
  for (const auto& each : nodes) is_gone.push_back(!members.find(each));
  std::map<std::uint32_t, std::string> gone;
  for (std::size_t shard = 0; shard < owner_of.size(); ++shard) {
    const auto owner = owner_of[shard];
    if (owner < nodes.size() && is_gone[owner]) gone[static_cast<std::uint32_t>(shard)] = nodes[owner];
  }
  return gone;
}

awaitable<planner::time_point> planner::plan(children_snapshot members) {
  auto next = never;
  written_.clear();
  auto present = listed(members);
  auto away = away_.waiting(next);
  returns_.look(present, away, now(), next);
  auto over = terms_.look(quarantines_->snapshot(), now(), next);
  if (!over.empty()) {
    next = std::min(next, now() + map_retry_pause);  // if one is refused
    co_await end_quarantines(std::move(over));
  }
  shard_assignment plan(group_->options.shards, std::move(present), std::move(away), quarantined(), wishes());
  auto error = co_await moving_.look(plan, next);
  if (error) co_return again(error);
  const bool has_taken_back = plan.take_back(remade_);
  const auto due = due_at(plan);
  if (has_taken_back) {
    // The next step gives these shards to somebody. An owner that does nothing has not noticed that its record is gone.
  } else if (now() >= due) {
    const auto moves = zkrecipes::detail::plan(plan.to_plan(group_->options.max_moves, is_frozen_));
    plan.apply(moves, gone_owners(members));
    if (!is_frozen_) plan.release_if_all_drain();
  } else {
    next = std::min(next, due);
  }
  if (is_map_due()) plan.confirm();
  error = co_await write(plan);
  if (is_write_conflict(error)) co_return next;  // the views will show what has changed
  if (error) co_return again(error);
  remade_.clear();
  last_owners_ = plan.owners();
  const auto map_due = co_await write_map(plan, std::move(members));
  co_return std::min(next, map_due);
}

awaitable<error_code> planner::write(const shard_assignment& plan) {
  auto orders = plan.changed_orders();
  auto ids = plan.returned();
  const auto over = away_.over();
  ids.insert(ids.end(), over.begin(), over.end());
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());  // a grace may have ended since the plan was made
  std::vector<shard_assignment::order> some;
  std::size_t bytes = 0;
  for (auto& each : orders) {
    bytes += each.data.size();
    if (some.size() == most_orders || (bytes > most_order_bytes && !some.empty())) {
      auto full = std::exchange(some, {});
      auto error = co_await write_orders(std::move(full));
      if (error) co_return error;
      bytes = each.data.size();
    }
    some.push_back(std::move(each));
  }
  auto error = error_code();
  if (!some.empty()) error = co_await write_orders(std::move(some));
  if (!error && !ids.empty()) co_await forget_notes(std::move(ids));
  co_return error;
}

awaitable<error_code> planner::write_orders(std::vector<shard_assignment::order> orders) {
  transaction all;
  for (const auto& each : orders) all.set(group_->where.member(each.node), each.data, each.version);
  auto done = co_await term_->commit(std::move(all));
  if (!std::get<0>(done)) {
    for (const auto& each : orders) written_[each.node] = each.version + 1;
  }
  co_return std::get<0>(done);
}

/// Nothing depends on the answers: a note that stays is looked at again, and one that was written anew is not removed.
awaitable<void> planner::forget_notes(std::vector<std::string> ids) {
  if (ids.size() <= most_orders) {
    transaction removals;
    for (const auto& each : ids) {
      const auto version = away_.version_of(each);
      if (version) removals.remove(group_->where.away_of(each), *version);
    }
    if (removals.empty()) co_return;
    auto done = co_await term_->commit(std::move(removals));
    if (ids.size() < 2 || !concerns_a_part(std::get<0>(done))) co_return;
  }
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2);
  std::vector<std::string> rest(middle, ids.end());
  ids.erase(middle, ids.end());
  co_await forget_notes(std::move(ids));
  co_await forget_notes(std::move(rest));
}

/// The watch tells of those that were ended.
awaitable<void> planner::end_quarantines(std::vector<quarantine_terms::ended> over) {
  for (const auto& each : over) {
    transaction removal;
    removal.remove(join(group_->where.quarantines(), each.name), each.version);
    co_await term_->commit(std::move(removal));
  }
}

bool planner::is_map_due() const { return shown_map_.empty() || now() >= map_shown_at_ + map_pause; }

/// At most once a second, and only when it differs. It is a hint, so a failure is no more than a later hint.
awaitable<planner::time_point> planner::write_map(const shard_assignment& plan, children_snapshot members) {
  if (!is_map_due()) co_return map_shown_at_ + map_pause;
  const bool has_changed = plan.has_changed();
  if (!shown_map_.empty() && !has_changed && members.nodes == mapped_.nodes) co_return never;
  auto map = plan.to_map();
  if (map == shown_map_ && !has_changed) mapped_ = std::move(members);
  if (map == shown_map_) co_return never;
  transaction change;
  change.set(group_->where.map(), map);
  auto multi = backend::make_multi(term_->fenced(std::move(change)));
  const auto deadline = now() + session()->options().timeout;
  auto written = co_await session()->perform(std::move(multi), retry::once, nullptr, deadline);
  if (written.error == errc::no_node) {
    auto path = group_->where.map();
    co_await session()->ensure_path(std::move(path));
  }
  if (written.error) co_return now() + (written.error == errc::no_node ? retry_pause : map_retry_pause);
  shown_map_ = std::move(map);
  map_written_ = written.results.back().stat.mzxid;
  map_shown_at_ = now();
  co_return never;
}

}  // namespace zkrecipes::detail
