#include "scenario/queue_rules.hpp"

#include <algorithm>
#include <optional>

#include "queue/queue_layout.hpp"

namespace zkrecipes::simulation {

using kind = change::kind;

namespace {

constexpr std::int64_t nobody = 0;
/// A taker has drawn at most three items at once by its previous list, and draws at most three more while it reads the
/// new one.
constexpr int max_overtaken = 6;

bool is_child(const std::string& path, const std::string& parent) {
  return path.starts_with(parent + '/') && path.find('/', parent.size() + 1) == path.npos;
}

}  // namespace

queue_rules::queue_rules(stage& in, queue_use use) : in_(in), use_(use), where_(use.kind, path) {
  operator_interferes_ =
      std::ranges::any_of(in.what().faults, [](const fault& each) { return each.kind == fault_kind::remove_node; });
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
    if (each.type == kind::create && !item.empty() && who) put_has_ended(who->client);
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

/// Each fault allows for ten more requests, because it can cost every taker some.
void queue_rules::check_costs() const {
  const auto spare = 20 + 10 * in_.what().faults.size();
  const auto figures =
      std::to_string(claims_) + " claims, " + std::to_string(lists_) + " lists, " + std::to_string(claimed_) + " items";
  in_.require(claims_ <= claimed_ + claimed_ / 4 + spare, "takers of a long list seldom meet", figures);
  in_.require(lists_ <= claimed_ / 4 + spare, "a list serves many takes", figures);
}

/// A new item was put by a client, or it moves: then the same transaction removes it from its old place.
void queue_rules::created(const change& what, const entry& in) {
  const bool moves = std::ranges::any_of(
      in.changes, [&](const change& each) { return each.type == kind::remove && !item_name(each.path).empty(); });
  if (moves || is_revived(what, in)) return;
  in_.require(put_.insert(what.data).second, "put once", what.data);
  items_[item_name(what.path)].value = what.data;
}

/// A dead letter becomes an item again, in one transaction.
bool queue_rules::is_revived(const change& what, const entry& in) {
  for (const auto& each : in.changes) {
    const auto letter = each.type == kind::remove ? letters_.find(each.path) : letters_.end();
    if (letter == letters_.end() || letter->second != what.data) continue;
    letters_.erase(letter);
    ended_.erase(what.data);
    items_[item_name(what.path)] = {what.data};
    came_back_ = true;
    return true;
  }
  return false;
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
  if (letter != in.changes.end()) {
    letters_[letter->path] = value;
    return died(item, letter->data);
  }
  if (use_.pops && use_.kind != detail::queue_kind::delayed) {
    in_.require(any([&](const change& each) { return each.type == kind::create && claimed_name(each.path) == name; }),
                "an item is popped past nobody's claim", what.path);
  } else {
    const bool settled = any([&](const change& each) {  // the claim is removed, or marked now and removed later
      return (each.type == kind::remove || each.type == kind::set) && claimed_name(each.path) == name;
    });
    in_.require(settled, "an item leaves with its claim", what.path);
  }
  if (use_.pops) {
    popped_from_queue_[value] = begun_.at(in.session);
    return;
  }
  in_.require(finished_.contains(value), "removed only after it was worked on", value);
  bool has_effect = false;
  for (const auto& each : in.changes) {
    if (each.type != kind::set || each.path != results || !each.data.starts_with(value + ' ')) continue;
    has_effect = true;
    effects_.insert(each.data);
  }
  in_.require(has_effect, "its effect happens with its end", value);
}

void queue_rules::claimed(const std::string& name, const entry& in) {
  const auto what = where_.parse(name);
  if (!what) return;
  standing_.insert(name);
  const auto& by = begun_.at(in.session);
  met_itself_ = met_itself_ || by.number != lives_.at(by.client);  // executed late
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

/// Checked only in priority and delay queues with a single taker, while no operator interferes and nothing has come
/// back. Several takers each begin at a random item near the front; so does, for a while, a taker that met a claim of
/// its own earlier session, because it takes that for another taker's.
void queue_rules::overtakes(const detail::entry& what) {
  const bool is_disturbed = operator_interferes_ || came_back_ || met_itself_;
  if (!use_.alone || use_.kind == detail::queue_kind::fifo || is_disturbed) return;
  for (auto& [name, each] : items_) {
    const auto other = where_.parse(name);
    const bool goes_first = std::pair(other->rank, other->sequence) < std::pair(what.rank, what.sequence);
    if (each.owner != nobody || !goes_first) continue;
    in_.require(++each.overtaken <= max_overtaken, "an item is not overtaken for long", name + " by " + what.name);
  }
}

/// A claim only for moving the item to the dead letters, without handing it out, does not count as an attempt.
void queue_rules::died(const known_item& what, const std::string& letter) {
  const auto read = detail::read_letter(letter);
  const bool is_buried_unseen = what.owner != nobody && !what.is_told;
  const auto attempts = what.attempts - (is_buried_unseen ? 1 : 0);
  in_.require(operator_interferes_ || (read && read->attempts == attempts),
              "a dead letter was handed out as often as it says", letter + ", not " + std::to_string(attempts));
}

void queue_rules::unclaimed(const std::string& name, const entry& in) {
  standing_.erase(name);
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
                    why == asio::error::operation_aborted || why == errc::closed || why == errc::connection_loss;
  if (!open) in_.require(put_.contains(value) == !why, "a put is what it says", value + ": " + why.message());
}

/// An acknowledgement must report what has happened, unless the outcome can not be known (`is_left_open`).
void queue_rules::acknowledged(const std::string& effect, error_code why, std::int64_t bound) {
  if (why == asio::error::operation_aborted) return;
  const bool is_done = effects_.contains(effect);
  const auto what = effect + ": " + why.message();
  if (is_left_open(why, bound)) return;
  in_.require(!why || why == errc::superseded, "an acknowledgement is settled", what);
  in_.require(is_done == !why, "an acknowledgement is what it says", what);
}

void queue_rules::rejected(const std::string& value, error_code why, std::int64_t bound) {
  if (why == asio::error::operation_aborted || is_left_open(why, bound)) return;
  in_.require(!why || why == errc::superseded, "a rejected item dies", value + ": " + why.message());
}

/// The outcome can not be known if the claim that would show it has gone, with its session or by an operator, or if
/// there was no connection for as long as an operation waits for one.
bool queue_rules::is_left_open(error_code why, std::int64_t bound) const {
  if (why == errc::connection_loss) return true;
  return why == errc::outcome_unknown && (operator_interferes_ || !in_.servers().ephemeral_owner_alive(bound));
}

bool queue_rules::is_for_put(const backend::request& what) const {
  const auto gate = where_.on_side(detail::gate_name);
  const auto is_of_put = [&](const operation& each) {
    return each.type == operation::kind::create && each.path.ends_with('-') &&
           (each.path.starts_with(gate) || each.path.starts_with(where_.item(where_.marker(0).substr(0, 2))));
  };
  if (what.op == backend::opcode::multi) return std::ranges::any_of(what.operations, is_of_put);
  return what.op == backend::opcode::exists && (what.path.starts_with(gate) || what.path == where_.items);
}

/// What follows is for another put: those of a producer that were cancelled on the way go on behind one another.
void queue_rules::put_has_ended(int client) {
  if (const auto found = budgets_.find(client); found != budgets_.end()) found->second.used = 0;
}

/// Checks that a put takes few requests, however many clients put at the same time.
void queue_rules::received(const connection& from, const backend::request& what) {
  asked(what);
  const auto found = budgets_.find(from.client);
  if (found == budgets_.end() || !is_for_put(what)) return;
  auto& left = found->second;
  if (std::exchange(left.connection, from.number) != from.number) left.used = 0;
  in_.require(++left.used <= left.most, "a put takes few requests", "client " + std::to_string(from.client));
}

void queue_rules::taken(int client, std::int64_t session, const message& item) {
  const auto& nodes = in_.servers().committed_state();
  const auto* claim = nodes.find(where_.claim(item.name));
  if (!claim || operator_interferes_) return;  // no claim: its session has ended meanwhile
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
      if (name.starts_with(detail::producer_prefix)) continue;
      in_.require(may_stay.contains(name), "no node left", folder + '/' + name);
    }
  }
  for (auto folder : {detail::idle_folder, detail::gate_name}) {
    const node* there = nodes.find(where_.on_side(folder));
    if (there && !there->children.empty()) in_.fail("no node left", *there->children.begin());
  }
}

}  // namespace zkrecipes::simulation
