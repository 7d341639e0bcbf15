// Getting in line, waiting for the turn.
#include "line/place.hpp"

#include <algorithm>
#include <utility>

#include "session/background.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {
bool has_fired(const std::unique_ptr<watch>& hint) { return hint->fired(); }
}  // namespace

std::optional<std::size_t> nearest_ahead(const std::vector<member>&, std::size_t self) {
  if (self == 0) return std::nullopt;
  return self - 1;
}

place::place(core_ptr session, line_spec line, std::string data)
    : session_(std::move(session)),
      line_(std::move(line)),
      data_(std::move(data)),
      changed_(session_->get_scheduler()) {}

place::~place() = default;

awaitable<outcome<place_ptr>> place::enter(core_ptr session, line_spec line, std::string data) {
  auto self = std::make_shared<place>(std::move(session), std::move(line), std::move(data));
  auto error = co_await self->get_in();
  if (error) self.reset();
  co_return outcome<place_ptr>(error, std::move(self));
}

awaitable<error_code> place::get_in() {
  guid_ = session_->make_guid();
  auto error = co_await create();
  if (error && ghost_) session_->remove_all_surely(line_.parent, guid_, bound_);
  if (error) co_return error;
  holder_ = session_->add_holder(changed_);
  launch_detached(session_->strand(), guard(shared_from_this()));
  co_return error_code();
}

awaitable<error_code> place::create() {
  auto pass = co_await session_->entrance().enter(session_->get_scheduler());
  if (!pass) co_return asio::error::operation_aborted;
  auto pause = session_->patience();
  for (;;) {
    auto error = co_await session_->wait_connected(bound_, never);
    if (error) co_return error;
    if (!bound_) bound_ = session_->current();
    // The list is executed right behind the create, so both cost one round trip.
    auto node = make_request(opcode::create, join(line_.parent, protected_name(guid_, line_.marker)));
    node.data = data_;
    node.mode = create_mode::ephemeral_sequential;
    auto creating = session_->send(std::move(node));
    auto listing = roll_call::of(session_, line_);
    auto created = co_await session_->answer(creating);
    auto listed = co_await listing->wait();
    if (!created.error) {
      accept(std::move(created.path), created.stat);
      if (listed) members_ = std::move(listed), parent_ = listing->parent(), listed_ = true;
      co_return settle(listing->strangers());
    }
    if (created.error == errc::no_node) {
      error = co_await session_->ensure_path(line_.parent, bound_);
      if (error) co_return error;
    } else if (created.error == errc::connection_loss) {
      ghost_ = true;
      error = co_await find_own();
      if (error || !path_.empty()) co_return error;
    } else if (created.throttled) {
      error = co_await session_->outwait(pause, bound_);
      if (error) co_return error;
    } else {
      ghost_ = ghost_ || created.error == asio::error::operation_aborted || created.error == errc::server_error;
      co_return created.error;
    }
  }
}

/// After a lost reply: our node, if it was created after all, is the one with our GUID that belongs to our session.
awaitable<error_code> place::find_own() {
  auto children = make_request(opcode::children, line_.parent);
  auto listed = co_await session_->perform(std::move(children), retry::always, bound_);
  if (listed.error == errc::no_node) co_return error_code();
  if (listed.error) co_return listed.error;
  auto members = members_of(listed.children, line_.accepted);
  for (const auto& each : members) {
    if (each.name.find(guid_) == each.name.npos) continue;
    auto exists = make_request(opcode::exists, join(line_.parent, each.name));
    auto found = co_await session_->perform(exists, retry::always, bound_);
    if (found.error && found.error != errc::no_node) co_return found.error;
    if (found.error || found.stat.ephemeral_owner != bound_->key.id) continue;
    accept(exists.path, found.stat);
    members_ = std::make_shared<const std::vector<member>>(std::move(members));
    listed_ = true;
    co_return settle(strangers_among(listed.children, line_.accepted));
  }
  co_return error_code();
}

/// We have a node: see that it is a good one, and where it stands. Who is of another recipe does not know that we are
/// here. If it came before us the path is not ours to use; if it came behind us, it is for it to see that.
error_code place::settle(const std::vector<std::int32_t>& strangers) {
  const bool is_used = std::ranges::any_of(strangers, [&](std::int32_t each) { return before(each, sequence_); });
  if (is_used || is_exhausted(sequence_)) {
    session_->remove_surely(path_, bound_);
    return is_used ? errc::foreign_data : errc::sequence_exhausted;
  }
  if (listed_) {
    const std::string own_name = name();
    const auto is_own = [&](const member& m) { return m.sequence == sequence_ && m.name == own_name; };
    if (ghost_) {
      // A create of ours whose reply was lost can turn up late, as a second node: it must not block us.
      auto others = *members_;
      std::erase_if(others, [&](const member& m) { return !is_own(m) && m.name.find(guid_) != m.name.npos; });
      members_ = std::make_shared<const std::vector<member>>(std::move(others));
    }
    const auto own = std::find_if(members_->begin(), members_->end(), is_own);
    listed_ = own != members_->end();
    self_ = static_cast<std::size_t>(own - members_->begin());
    forgotten_ = 0;
    if (self_ == 1) changed_.notify();
    note_position();
  }
  return error_code();
}

void place::tell_position(std::function<void(std::size_t)> hook) {
  on_position_ = guarded(*session_->get_scheduler(), std::move(hook));
  if (listed_) note_position();
}

void place::note_position() {
  if (on_position_ && std::exchange(told_, position()) != position()) on_position_(position());
}

void place::accept(std::string path, const node_stat& s) {
  path_ = std::move(path);
  token_ = s.czxid;
  sequence_ = parse_sequence(name_of(path_), line_.accepted).value_or(-1);
}

awaitable<error_code> place::list() {
  std::vector<backend::request> look{make_request(opcode::children, line_.parent)};
  auto answered = co_await ask(std::move(look));
  auto& [error, replies] = answered;
  if (!error) error = replies.front().error;
  if (error) co_return error;
  const auto& names = replies.front().children;
  members_ = std::make_shared<const std::vector<member>>(members_of(names, line_.accepted));
  listed_ = true;
  error = settle(strangers_among(names, line_.accepted));
  if (error) co_return error;
  if (listed_) co_return error_code();
  lose(errc::node_removed);
  co_return errc::node_removed;
}

/// Waits until `told` tells something, or for so long, while the place is held: the clock is watched here, too.
awaitable<error_code> place::wait_held(condition& told, lease_clock::time_point until) {
  auto why = co_await told.wait(std::min(until, believed_until()));
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  lose_if_over();
  co_return lost();
}

awaitable<outcome<std::vector<backend::reply>>> place::ask(std::vector<backend::request> all) {
  auto pause = session_->patience();
  for (;;) {
    auto answered = co_await ask_once(all);
    auto& [error, answers] = answered;
    if (error || std::ranges::none_of(answers, &backend::reply::throttled)) co_return answered;
    for (const auto until = pause.next(*session_->get_scheduler()); !error && session_->now() < until;) {
      error = co_await wait_held(changed_, until);
    }
    if (error) co_return answered;
  }
}

awaitable<outcome<std::vector<backend::reply>>> place::ask_once(const std::vector<backend::request>& all) {
  using result_type = outcome<std::vector<backend::reply>>;
  auto error = lost();
  while (!error && !session_->connected()) error = co_await wait_held(session_->changed());
  if (error) co_return result_type(error, {});
  std::vector<exchange_ptr> sent;
  for (const auto& each : all) sent.push_back(session_->send(each));
  std::vector<backend::reply> answers;
  bool is_broken = false;
  for (const auto& each : sent) {
    while (!error && !each->answer) error = co_await wait_held(each->done);
    if (error) co_return result_type(error, {});
    is_broken = is_broken || each->answer->error == errc::connection_loss;
    answers.push_back(std::move(*each->answer));
  }
  if (is_broken) {
    error = errc::connection_loss;
    co_await session_->before_retry();
  }
  co_return result_type(error, std::move(answers));
}

awaitable<error_code> place::know_line() {
  while (!listed_) {
    auto error = co_await list();
    if (error && error != errc::connection_loss) co_return error;
  }
  co_return error_code();
}

awaitable<error_code> place::try_turn(const blocker& who_first) {
  auto error = co_await know_line();
  if (error) co_return error;
  if (who_first(*members_, self_)) co_return errc::busy;
  co_return lost();
}

awaitable<error_code> place::wait_turn(const blocker& who_first) {
  hints watched;
  for (;;) {
    if (auto why = lost()) co_return why;
    if (!listed_) {
      watched.clear();  // what they say of themselves is forgotten with the old list
      auto error = co_await know_line();
      if (error) co_return error;
    }
    auto ahead = who_first(*members_, self_);
    if (!ahead) co_return lost();  // the list may have taken longer than the lease
    if (line_.one_by_one && self_ > 1) ahead = forget_all_but(ahead->first);
    std::vector<std::string> gone;
    auto error = co_await look_ahead(*ahead, watched, gone);
    if (error == errc::connection_loss) {
      watched.clear();  // what watched is gone with it
      continue;
    }
    if (error) co_return error;
    const auto is_unchanged = [&] {
      return gone.empty() && std::ranges::none_of(watched, has_fired) && who_first(*members_, self_) == ahead;
    };
    while (!lost() && is_unchanged()) {
      auto why = co_await changed_.wait();
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
    if (auto why = lost()) co_return why;
    note_departures(*ahead, watched, std::move(gone), who_first);
  }
}

/// Watches these members instead of those that were watched so far. Of those that are watched already nothing has been
/// told since they were looked at; the indices of the others are returned.
std::vector<std::size_t> place::watch_ahead(stretch who, hints& watched) {
  std::vector<std::size_t> unseen;
  hints next;
  auto from = watched.begin();  // both are in the order of the line
  for (auto i = who.first; i < who.last; ++i) {
    auto path = join(line_.parent, (*members_)[i].name);
    const auto known =
        std::find_if(from, watched.end(), [&](const auto& each) { return each && each->path() == path; });
    if (known != watched.end() && !(*known)->fired()) {
      next.push_back(std::move(*known));
      from = known + 1;
    } else {
      next.push_back(session_->arm(watch_kind::data, std::move(path), changed_));
      unseen.push_back(i);
    }
  }
  watched = std::move(next);
  return unseen;
}

/// Nobody can have come before us since. So what is left of the list is all that there can be; who has watched only
/// some of it learns from that whether it is its turn, and not whom to wait for.
void place::note_departures(stretch who, const hints& watched, std::vector<std::string> gone,
                            const blocker& who_first) {
  const bool watched_all = !forgotten_ && who == stretch(0, self_);
  for (auto i = who.first; i < who.last; ++i) {
    if (watched[i - who.first]->deleted()) gone.push_back((*members_)[i].name);
  }
  const auto before = members_->size();
  depart(gone);
  if (members_->size() < before && !watched_all) listed_ = !forgotten_ && !who_first(*members_, self_);
}

/// Looks at these members, to be told of what becomes of them.
awaitable<error_code> place::look_ahead(stretch who, hints& watched, std::vector<std::string>& gone) {
  const auto unseen = watch_ahead(who, watched);
  std::vector<backend::request> looks;
  // By getData: a watch set by `exists` would stay behind on a node that is gone already.
  for (const auto i : unseen) looks.push_back(make_request(opcode::get, join(line_.parent, (*members_)[i].name), true));
  auto answered = co_await ask(std::move(looks));
  const auto& [error, seen] = answered;
  if (error) co_return error;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].error == errc::no_node) {
      gone.push_back((*members_)[unseen[i]].name);
    } else if (seen[i].error) {
      co_return seen[i].error;
    } else {
      note_pass(unseen[i], line_.lets_pass && line_.lets_pass(seen[i].data));
    }
  }
  co_return error_code();
}

void place::note_pass(std::size_t which, bool lets_pass) {
  if ((*members_)[which].lets_pass == lets_pass) return;
  auto changed = std::make_shared<std::vector<member>>(*members_);  // others look at the same list
  (*changed)[which].lets_pass = lets_pass;
  members_ = std::move(changed);
}

void place::depart(const std::vector<std::string>& gone) {
  auto left = std::make_shared<std::vector<member>>(*members_);
  for (const auto& name : gone) {
    const auto ahead = std::find_if(left->begin(), left->end(), [&](const member& m) { return m.name == name; });
    if (ahead == left->end()) continue;
    left->erase(ahead);
    --self_;
  }
  members_ = std::move(left);
  note_position();
}

/// Of ourselves the sequence is enough.
stretch place::forget_all_but(std::size_t ahead) {
  members_ = std::make_shared<const std::vector<member>>(std::vector{(*members_)[ahead], member{{}, sequence_, false}});
  forgotten_ += self_ - 1;
  self_ = 1;
  return stretch(0);
}

}  // namespace zkrecipes::detail
