#include "line/waiter.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "line/line_spec.hpp"
#include "session/operation.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Also who has just been let in through another server than ours.
awaitable<outcome<std::vector<member>>> list_latest(core_ptr session, line_spec line) {
  std::vector<backend::request> look{make_request(opcode::children, line.parent)};
  auto answered = co_await perform_latest(std::move(session), std::move(look), persistence::limited);
  auto& [error, replies] = answered;
  if (!error && replies[0].error != errc::no_node) error = replies[0].error;
  if (error) co_return failed<std::vector<member>>(error);
  co_return outcome<std::vector<member>>(error_code(), members_of(replies[0].children, line.accepted));
}

}  // namespace

awaitable<outcome<std::vector<member>>> list_members(core_ptr session, line_spec line) {
  auto look = make_request(opcode::children, line.parent);
  auto listed = co_await session->perform(std::move(look), retry::always);
  if (listed.error == errc::no_node) listed.error.clear();
  co_return outcome<std::vector<member>>(listed.error, members_of(listed.children, line.accepted));
}

awaitable<outcome<>> let_pass(core_ptr session, std::string node, std::optional<std::string> data,
                              incarnation_ptr bound) {
  std::int32_t version = 0;  // of a node that nobody has written to yet
  for (;;) {
    if (!data) {
      auto look = make_request(opcode::get, node);
      auto seen = co_await session->perform(std::move(look), retry::always, bound);
      if (seen.error || is_shared(seen.data)) co_return outcome<>(seen.error);
      data = std::move(seen.data);
      version = seen.stat.version;
    }
    auto set = make_request(opcode::set, node);
    set.data = with_shared(*data);
    set.version = version;
    auto done = co_await session->perform(std::move(set), retry::always, bound);
    if (done.error != errc::bad_version) co_return outcome<>(done.error);
    data.reset();
  }
}

awaitable<outcome<std::vector<line_member>>> read_line(core_ptr session, line_spec line, blocker who_first) {
  std::vector<line_member> found;
  auto listed = co_await list_members(session, line);
  auto& [error, members] = listed;
  if (error) co_return outcome<std::vector<line_member>>(error, std::move(found));
  std::vector<backend::request> looks;
  for (const auto& each : members) looks.push_back(make_request(opcode::get, join(line.parent, each.name)));
  const auto nodes = co_await session->perform_all(std::move(looks));
  for (std::size_t i = 0; i < nodes.size() && !error; ++i) {
    if (nodes[i].error == errc::no_node) continue;  // left meanwhile
    error = nodes[i].error;
    found.push_back({member_id(nodes[i].data), members[i].name, nodes[i].stat.czxid, nodes[i].stat.ephemeral_owner,
                     static_cast<std::int32_t>(found.size()), !who_first(members, i)});
  }
  if (error) found.clear();
  co_return outcome<std::vector<line_member>>(error, std::move(found));
}

awaitable<outcome<>> request_revocation(core_ptr session, line_spec line, std::chrono::milliseconds grace) {
  if (grace < std::chrono::milliseconds(0)) co_return outcome<>(errc::bad_arguments);
  auto listed = co_await list_latest(session, line);
  auto& [error, members] = listed;
  if (!error && members.empty()) error = errc::no_node;
  if (error) co_return outcome<>(error);
  const auto path = join(line.parent, members.front().name);
  auto look = make_request(opcode::get, path);
  auto node = co_await session->perform(std::move(look), retry::always);
  if (node.error) co_return outcome<>(node.error);
  if (!is_revocable(node.data)) co_return outcome<>(errc::foreign_data);
  auto ask = make_request(opcode::set, path);
  ask.data = with_revocation(node.data, grace);
  ask.version = node.stat.version;
  auto asked = co_await session->perform(std::move(ask), retry::once);
  co_return outcome<>(asked.error);
}

namespace {

/// Where this member is; the number of members if it is not there.
std::size_t find(std::span<const member> members, const roster::own& who) {
  const auto distance = [&](std::int32_t sequence) {  // in this order they are: see `members_of`
    return static_cast<std::uint32_t>(sequence) - static_cast<std::uint32_t>(members.front().sequence);
  };
  const auto is_before = [&](const member& each, std::int32_t sequence) {
    return distance(each.sequence) < distance(sequence);
  };
  auto found = std::lower_bound(members.begin(), members.end(), who.sequence, is_before);
  while (found != members.end() && found->sequence == who.sequence && found->name != who.name) ++found;
  const bool is_there = found != members.end() && found->sequence == who.sequence;
  return is_there ? static_cast<std::size_t>(found - members.begin()) : members.size();
}

}  // namespace

void roster::assign(member_list listed, const own& self, std::string_view ghost) {
  const auto is_own = [&](const member& m) { return m.sequence == self.sequence && m.name == self.name; };
  const auto is_ghost = [&](const member& m) { return !is_own(m) && m.name.find(ghost) != m.name.npos; };
  std::optional<std::int32_t> passing;
  if (self_ > 0 && members()[self_ - 1].lets_pass) passing = members()[self_ - 1].sequence;
  members_ = std::move(listed);
  first_ = 0;
  if (!ghost.empty() && std::ranges::any_of(*members_, is_ghost)) {
    auto others = *members_;
    std::erase_if(others, is_ghost);
    count_alike(others);
    members_ = std::make_shared<const std::vector<member>>(std::move(others));
  }
  const auto found = find(*members_, self);
  current_ = found < members_->size();
  self_ = current_ ? found : 0;
  forgotten_ = 0;
  if (passing && self_ > 0 && members()[self_ - 1].sequence == *passing) set_pass(self_ - 1, true);
}

std::span<const member> roster::members() const noexcept {
  return members_ ? std::span(*members_).subspan(first_) : std::span<const member>();
}

void roster::depart(const std::vector<std::string>& names, const stretch& watched, const blocker& who_first) {
  if (names.empty()) return;
  const bool all_are_watched = forgotten_ == 0 && watched == stretch(0, self_);
  const auto before = self_;
  remove_ahead(names);
  if (self_ < before && !all_are_watched) current_ = forgotten_ == 0 && !who_first(members(), self_);
}

/// Those who leave from the front are left where they are, since others look at the same list.
void roster::remove_ahead(const std::vector<std::string>& names) {
  std::shared_ptr<std::vector<member>> left;
  for (const auto& name : names) {
    const auto ahead = members().first(self_);
    const auto gone = std::ranges::find(ahead, name, &member::name);
    if (gone == ahead.end()) continue;
    --self_;
    if (!left && gone == ahead.begin()) {
      ++first_;
      continue;
    }
    const auto which = gone - ahead.begin();
    if (!left) left = std::make_shared<std::vector<member>>(members().begin(), members().end());
    left->erase(left->begin() + which);
    members_ = left;
    first_ = 0;
  }
  if (left) count_alike(*left);
}

bool roster::take_turn_by(const member_list& listed, std::size_t departed_in_front,
                          const std::vector<std::string>& gone, const own& self, const blocker& who_first) {
  if (!listed) return false;
  roster other;
  other.members_ = listed;
  other.first_ = departed_in_front;
  other.self_ = find(other.members(), self);
  if (other.self_ == other.members().size()) return false;
  while (other.self_ > 0 && std::ranges::find(gone, other.members().front().name) != gone.end()) {
    ++other.first_;
    --other.self_;
  }
  if (who_first(other.members(), other.self_)) return false;
  other.current_ = true;
  *this = std::move(other);
  return true;
}

void roster::set_pass(std::size_t which, bool lets_pass) { members()[which].lets_pass = lets_pass; }

stretch roster::forget_all_but(std::size_t ahead) {
  // Nobody reads our own name in here, so the number is enough.
  const member self{{}, members()[self_].sequence, false, members()[self_].marker};
  member kept = members()[ahead];
  kept.alike = 0;
  members_ = std::make_shared<const std::vector<member>>(std::vector{std::move(kept), self});
  first_ = 0;
  forgotten_ += self_ - 1;
  self_ = 1;
  return stretch(0);
}

namespace {

bool has_fired(const std::unique_ptr<watch>& hint) { return hint->fired(); }

awaitable<outcome<ownership>> enter_and_wait(waiter_ptr who, blocker who_first) {
  auto entered = co_await who->enter();
  auto& [error] = entered;
  if (error) co_return failed<ownership>(error);
  ownership held(who->node());  // leaves again unless it is passed on
  error = co_await who->wait(who_first);
  if (error) co_return failed<ownership>(error);
  co_return outcome<ownership>(error, std::move(held));
}

}  // namespace

// Not a coroutine itself: what it is told would stay in its frame for as long as it waits.
awaitable<outcome<ownership>> own_in_turn(core_ptr session, line_spec line, std::string data, blocker who_first,
                                          std::function<void(std::size_t)> on_position) {
  auto who = std::make_shared<waiter>(std::move(session), std::move(line), std::move(data));
  if (on_position) who->report_position(std::move(on_position));
  return enter_and_wait(std::move(who), std::move(who_first));
}

awaitable<outcome<ownership>> try_to_own(core_ptr session, line_spec line, std::string data, blocker who_first,
                                         incarnation_ptr bound) {
  auto who = std::make_shared<waiter>(std::move(session), std::move(line), std::move(data));
  auto entered = co_await who->enter();
  auto& [error] = entered;
  if (error) co_return failed<ownership>(error);
  ownership held(who->node());  // leaves again unless it is passed on
  if (bound && who->node()->bound() != bound) co_return failed<ownership>(errc::session_expired);
  error = co_await who->look(who_first);
  if (error) co_return failed<ownership>(error);
  co_return outcome<ownership>(error, std::move(held));
}

awaitable<outcome<ownership>> own_if_free(core_ptr session, line_spec line, std::string data) {
  auto listed = co_await list_members(session, line);
  auto& [error, members] = listed;
  if (!error && !members.empty()) error = errc::busy;
  if (error) co_return failed<ownership>(error);
  auto trying = try_to_own(std::move(session), std::move(line), std::move(data), &nearest_ahead);
  co_return co_await std::move(trying);
}

line_news_ptr line_news::of(const core_ptr& session, const line_spec& line) {
  const auto make = [&] { return std::make_shared<line_news>(session, line); };
  auto joined = session->commons().join<line_news>(line.parent, make);
  // A line of another recipe at this path has other members.
  return joined->line_.accepted.data() == line.accepted.data() ? joined : make();
}

waiter::waiter(core_ptr session, line_spec line, std::string data)
    : node_(std::make_shared<own_node>(std::move(session), std::move(line), std::move(data))),
      changed_(node_->session()->get_scheduler()),
      node_changes_(node_->changed(), changed_) {}

awaitable<outcome<>> waiter::enter() {
  news_ = line_news::of(node_->session(), node_->line());
  auto created = co_await node_->create();
  auto& [error, seen] = created;
  if (error) co_return outcome<>(error);
  leaving place(node_);
  if (seen.members) {
    parent_ = std::move(seen.parent);
    assign(std::move(seen.members));
  }
  place.keep();
  co_return outcome<>(error);
}

void waiter::assign(member_list members) {
  const auto name = node_->name();
  const auto& place = node_->place();
  roster_.assign(std::move(members), {name, place.sequence}, place.may_have_ghost ? place.guid : "");
  if (roster_.is_next()) changed_.notify();
  if (roster_.is_current()) report();
}

void waiter::report_position(std::function<void(std::size_t)> hook) {
  on_position_ = guarded(*node_->session()->get_scheduler(), std::move(hook));
  if (roster_.is_current()) report();
}

void waiter::report() {
  const auto position = roster_.position();
  if (on_position_ && std::exchange(reported_, position) != position) on_position_(position);
}

awaitable<error_code> waiter::list() {
  for (;;) {
    auto error = co_await list_once();
    if (error != errc::connection_loss) co_return error;
  }
}

awaitable<error_code> waiter::list_once() {
  std::vector<backend::request> look{make_request(opcode::children, node_->line().parent)};
  auto answered = co_await ask(*node_, std::move(look));
  auto& [error, replies] = answered;
  if (!error) error = replies.front().error;
  if (error == errc::no_node) {  // the line has gone, with our node
    node_->lose(errc::node_removed);
    error = errc::node_removed;
  }
  if (error) co_return error;
  const auto& names = replies.front().children;
  const auto& accepted = node_->line().accepted;
  node_->session()->remove_orphans(node_->line().parent, names);
  error = check_neighbours(*node_->session(), node_->place(), strangers_among(names, accepted));
  if (error) co_return error;
  assign(std::make_shared<const std::vector<member>>(members_of(names, accepted)));
  if (roster_.is_current()) co_return error_code();
  node_->lose(errc::node_removed);
  co_return errc::node_removed;
}

awaitable<error_code> waiter::look(const blocker& who_first) {
  if (!roster_.is_current()) {
    auto error = co_await list();
    if (error) co_return error;
  }
  if (who_first(roster_.members(), roster_.self())) co_return errc::busy;
  co_return co_await take_turn();
}

/// A crowd that is let in at once, or a list, may have taken longer than the lease.
awaitable<error_code> waiter::take_turn() {
  if (!node_->place().may_have_ghost) {
    news_->members = roster_.list();
    news_->first = roster_.departed_in_front();
  }
  co_return co_await node_->confirm();
}

/// `gone`: the members ahead that are known to have left.
bool waiter::take_turn_by_news(const std::vector<std::string>& gone, const blocker& who_first) {
  if (node_->place().may_have_ghost) return false;
  const auto name = node_->name();
  return roster_.take_turn_by(news_->members, news_->first, gone, {name, node_->place().sequence}, who_first);
}

awaitable<error_code> waiter::wait(const blocker& who_first, condition* reconsider) {
  std::optional<forwarding> reconsiderations;
  if (reconsider) reconsiderations.emplace(*reconsider, changed_);
  hints watched;
  for (bool is_fresh = true;; is_fresh = false) {
    if (auto why = node_->lost()) co_return why;
    if (!roster_.is_current()) {
      watched.clear();  // what they say of themselves is forgotten with the old list
      auto error = co_await list();
      if (error) co_return error;
      is_fresh = true;
    }
    auto ahead = who_first(roster_.members(), roster_.self());
    if (!ahead) co_return co_await take_turn();
    if (!is_fresh && ahead->size() > watched.size() + 1) {  // most of so many may have left: one list tells
      if (!take_turn_by_news({}, who_first)) roster_.expire();
      continue;
    }
    if (node_->line().one_by_one && roster_.self() > 1) ahead = roster_.forget_all_but(ahead->first);
    std::vector<std::string> gone;
    auto error = co_await look_ahead(*ahead, watched, gone);
    if (error == errc::connection_loss) {
      watched.clear();  // what watched is gone with it
      continue;
    }
    if (error) co_return error;
    const auto is_unchanged = [&] {
      return gone.empty() && std::ranges::none_of(watched, has_fired) &&
             who_first(roster_.members(), roster_.self()) == ahead;
    };
    while (!node_->lost() && is_unchanged()) {
      auto why = co_await changed_.wait();
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
    if (auto why = node_->lost()) co_return why;
    on_departures(*ahead, watched, std::move(gone), who_first);
  }
}

std::string waiter::path_of(std::size_t which) const {
  return join(node_->line().parent, roster_.members()[which].name);
}

/// Watches these members instead of those that were watched so far. Nothing has been told of those that are watched
/// already since they were looked at; the indices of the others are returned.
std::vector<std::size_t> waiter::watch_ahead(stretch who, hints& watched) {
  std::vector<std::size_t> unseen;
  hints next;
  auto from = watched.begin();  // both are in the order of the line
  for (auto i = who.first; i < who.last; ++i) {
    auto path = path_of(i);
    const auto known =
        std::find_if(from, watched.end(), [&](const auto& each) { return each && each->path() == path; });
    if (known != watched.end() && !(*known)->fired()) {
      next.push_back(std::move(*known));
      from = known + 1;
    } else {
      next.push_back(node_->session()->arm(watch_kind::data, std::move(path), changed_));
      unseen.push_back(i);
    }
  }
  watched = std::move(next);
  return unseen;
}

/// Looks at these members, to be told of what becomes of them.
awaitable<error_code> waiter::look_ahead(stretch who, hints& watched, std::vector<std::string>& gone) {
  const auto unseen = watch_ahead(who, watched);
  std::vector<backend::request> looks;
  // By getData: a watch set by `exists` would stay behind on a node that is gone already.
  for (const auto i : unseen) looks.push_back(make_request(opcode::get, path_of(i), true));
  auto answered = co_await ask(*node_, std::move(looks));
  const auto& [error, seen] = answered;
  if (error) co_return error;
  const auto lets_pass = node_->line().lets_pass;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].error == errc::no_node) {
      gone.push_back(roster_.members()[unseen[i]].name);
    } else if (seen[i].error) {
      co_return seen[i].error;
    } else {
      roster_.set_pass(unseen[i], lets_pass && lets_pass(seen[i].data));
    }
  }
  co_return error_code();
}

void waiter::on_departures(stretch who, const hints& watched, std::vector<std::string> gone, const blocker& who_first) {
  for (auto i = who.first; i < who.last; ++i) {
    if (watched[i - who.first]->deleted()) gone.push_back(roster_.members()[i].name);
  }
  roster_.depart(gone, who, who_first);
  if (!roster_.is_current()) take_turn_by_news(gone, who_first);
  report();
}

}  // namespace zkrecipes::detail
