#include "scenario/queue_rules.hpp"

#include "queue/dead_letter.hpp"

#include <algorithm>
#include <optional>

namespace zkrecipes::simulation {

using kind = change::kind;

namespace {

constexpr std::int64_t nobody = 0;
/// What a taker has drawn at once by the list before: three at most, and the same again while the new list is read.
constexpr int most_overtaken = 6;

bool is_child(const std::string& path, const std::string& parent) {
  return path.starts_with(parent + '/') && path.find('/', parent.size() + 1) == path.npos;
}

}  // namespace

queue_rules::queue_rules(stage& in, queue_use use) : in_(in), use_(use), where_(use.kind, path) {
  operator_interferes_ = std::ranges::any_of(
      in.what().faults, [](const fault& each) { return each.kind == fault_kind::remove_node; });
}

std::string queue_rules::item_name(const std::string& node) const {
  if (!is_child(node, where_.items)) return {};
  auto name = node.substr(where_.items.size() + 1);
  return where_.parse(name) ? name : std::string();
}

std::string queue_rules::claimed_name(const std::string& node) const {
  const auto prefix = where_.claim("");
  return node.starts_with(prefix) ? node.substr(prefix.size()) : std::string();
}

void queue_rules::committed(const entry& what) {
  const auto who = what.asked.lock();
  if (what.type == entry::kind::open_session && who) begun_[what.session] = {who->client, lives_[who->client]};
  for (const auto& each : what.changes) {
    const auto item = item_name(each.path);
    const auto claim = claimed_name(each.path);
    if (each.type == kind::create && !item.empty()) created(each, what);
    if (each.type == kind::remove && !item.empty()) removed(each, what);
    if (each.type == kind::create && !claim.empty()) claimed(claim, what);
    if (each.type == kind::remove && !claim.empty()) unclaimed(claim, what);
  }
  if (use_.limit) in_.require(items_.size() <= use_.limit, "the limit is kept", std::to_string(items_.size()));
}

void queue_rules::asked(const backend::request& what) {
  if (!is_long()) return;
  if (what.op == backend::opcode::children && what.path == where_.items) ++lists_;
  const bool claims = what.op == backend::opcode::multi && what.operations.front().type == operation::kind::create &&
                      !claimed_name(what.operations.front().path).empty();
  if (claims) ++claims_;
}

/// Each fault can cost every taker some more.
void queue_rules::check_costs() const {
  const auto spare = 20 + 10 * in_.what().faults.size();
  const auto figures = std::to_string(claims_) + " claims, " + std::to_string(lists_) + " lists, " +
                       std::to_string(claimed_) + " items";
  in_.require(claims_ <= claimed_ + claimed_ / 4 + spare, "takers of a long list seldom meet", figures);
  in_.require(lists_ <= claimed_ / 4 + spare, "a list serves many takes", figures);
}

/// An item comes from a producer, or moves: then the same transaction takes it from its old place.
void queue_rules::created(const change& what, const entry& in) {
  const bool moves = std::ranges::any_of(in.changes, [&](const change& each) {
    return each.type == kind::remove && !item_name(each.path).empty();
  });
  if (moves) return;
  in_.require(put_.insert(what.data).second, "put once", what.data);
  items_[item_name(what.path)].value = what.data;
}

void queue_rules::removed(const change& what, const entry& in) {
  const auto name = item_name(what.path);
  const auto item = items_[name];
  const auto& value = item.value;
  items_.erase(name);
  auto any = [&](auto test) { return std::ranges::any_of(in.changes, test); };
  std::string moved_to;
  for (const auto& each : in.changes) {
    if (each.type == kind::create && each.data == value) moved_to = item_name(each.path);
  }
  if (!moved_to.empty()) {
    items_[moved_to] = {value, item.attempts};
    came_back_ = true;
    return;
  }
  in_.require(ended_.insert(value).second, "an item leaves once", value);
  const auto letter = std::ranges::find_if(in.changes, [&](const change& each) {
    return each.type == kind::create && each.path.starts_with(where_.on_side(detail::dead_folder) + "/letter-") &&
           each.data.ends_with('\n' + value);
  });
  if (letter != in.changes.end()) return died(item, letter->data);
  if (use_.pops && use_.kind != detail::queue_kind::delayed) {
    in_.require(any([&](const change& each) { return each.type == kind::create && claimed_name(each.path) == name; }),
                "an item is popped past nobody's claim", what.path);
  } else {
    const bool settled =
        any([&](const change& each) { return each.type == kind::remove && claimed_name(each.path) == name; });
    in_.require(settled, "an item leaves with its claim", what.path);
  }
  if (use_.pops) {
    popped_from_queue_[value] = begun_.at(in.session);
    return;
  }
  in_.require(finished_.contains(value), "removed only after it was worked on", value);
  const bool has_effect =
      any([&](const change& each) { return each.type == kind::set && each.path == results && each.data == value; });
  in_.require(has_effect, "its effect happens with its end", value);
}

void queue_rules::claimed(const std::string& name, const entry& in) {
  const auto what = where_.parse(name);
  if (!what) return;
  if (use_.alone && use_.kind == detail::queue_kind::fifo && !came_back_) {
    in_.require(what->sequence > last_number_, "one taker gets them in order", name);
    last_number_ = what->sequence;
  }
  auto found = items_.find(name);
  if (found == items_.end()) return;  // popped in the same transaction
  if (is_long()) ++claimed_;
  overtakes(*what);
  ++found->second.attempts;
  found->second.owner = in.session;
  found->second.is_told = false;
}

/// Where others take, too, each begins somewhere near the front. A taker whose claim was in its own way for once, one of
/// an earlier session, believes for a while that there are others.
void queue_rules::overtakes(const detail::entry& what) {
  const bool is_disturbed = operator_interferes_ || came_back_;
  if (!use_.alone || use_.kind == detail::queue_kind::fifo || is_disturbed) return;
  for (auto& [name, each] : items_) {
    const auto other = where_.parse(name);
    const bool goes_first = std::pair(other->rank, other->sequence) < std::pair(what.rank, what.sequence);
    if (each.owner != nobody || !goes_first) continue;
    in_.require(++each.overtaken <= most_overtaken, "an item is not overtaken for long", name + " by " + what.name);
  }
}

/// The claim of the one who buries it has been taken away in the same transaction.
void queue_rules::died(const known_item& what, const std::string& letter) {
  const auto read = detail::read_letter(letter);
  in_.require(operator_interferes_ || (read && read->attempts == what.attempts),
              "a dead letter was handed out as often as it says", letter + ", not " + std::to_string(what.attempts));
}

void queue_rules::unclaimed(const std::string& name, const entry& in) {
  auto found = items_.find(name);
  if (found == items_.end()) return;
  came_back_ = true;
  const bool is_taken_back = in.session == found->second.owner && in.type != entry::kind::close_session;
  if (is_taken_back && !found->second.is_told) --found->second.attempts;
  in_.require(operator_interferes_ || in.session == found->second.owner || in.type == entry::kind::close_session,
              "a claim is its owner's to take back", name);
  found->second.owner = nobody;
}

void queue_rules::put_ends(const std::string& value, error_code why) {
  const bool open = why == errc::outcome_unknown || why == errc::session_expired ||
                    why == asio::error::operation_aborted || why == errc::closed;
  if (!open) in_.require(put_.contains(value) == !why, "a put is what it says", value + ": " + why.message());
}

void queue_rules::taken(int client, std::int64_t session, const message& item) {
  const auto& nodes = in_.servers().committed_state();
  const auto* claim = nodes.find(where_.claim(item.name));
  if (!claim || operator_interferes_) return;  // its session has ended meanwhile
  const bool ours = claim->stat.ephemeral_owner == session;
  in_.require(ours || !in_.servers().ephemeral_owner_alive(session), "an item is with one taker",
              "client " + std::to_string(client) + ", " + item.name);
  const auto found = items_.find(item.name);
  if (!ours || found == items_.end()) return;
  in_.require(found->second.value == item.data, "the data is what was put", item.name);
  found->second.is_told = true;
  in_.require(item.attempts == found->second.attempts, "every attempt counts",
              item.name + ": " + std::to_string(item.attempts) + ", not " + std::to_string(found->second.attempts));
  const auto what = where_.parse(item.name);
  if (use_.kind == detail::queue_kind::delayed) {
    in_.require(claim->stat.ctime >= what->rank, "not before its time", item.name);
  }
}

void queue_rules::popped(error_code why, const message& item) {
  if (!item.name.empty()) told_.insert(item.data);
  if (!why) in_.require(handed_out_.insert(item.data).second, "handed out at most once", item.data);
}

void queue_rules::check_quiet(const tree& nodes) const {
  if (use_.backlog) check_costs();
  for (const auto& value : put_) in_.require(ended_.contains(value), "nothing is lost", value);
  for (const auto& [value, by] : popped_from_queue_) {
    const bool still_lives = lives_.at(by.client) == by.number;
    in_.require(!still_lives || told_.contains(value), "what is removed is handed out", value);
  }
  const std::set<std::string> may_stay{std::string(detail::idle_folder), std::string(detail::dead_folder),
                                       std::string(detail::gate_name), std::string(detail::clock_name)};
  for (const auto& folder : {where_.items, where_.side}) {
    const node* there = nodes.find(folder);
    for (const auto& name : there ? there->children : std::set<std::string>()) {
      in_.require(may_stay.contains(name), "no node left", folder + '/' + name);
    }
  }
  const node* idle = nodes.find(where_.on_side(detail::idle_folder));
  if (idle && !idle->children.empty()) in_.fail("no node left", *idle->children.begin());
}

}  // namespace zkrecipes::simulation
