#include "line/line_entry.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "session/back_off.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

void take_place(line_place& ours, std::string path, const node_stat& stat, const line_spec& line) {
  ours.path = std::move(path);
  ours.token = stat.czxid;
  ours.sequence = parse_sequence(name_of(ours.path), line.accepted).value_or(-1);
}

/// After a lost reply: our node, if it was created after all, is the one with our GUID that belongs to our session.
awaitable<error_code> find_own(const core_ptr& session, const line_spec& line, line_place& ours, line_reading& seen) {
  auto children = make_request(opcode::children, line.parent);
  auto listed = co_await session->perform(std::move(children), retry::always, ours.bound);
  if (listed.error == errc::no_node) co_return error_code();
  if (listed.error) co_return listed.error;
  auto members = members_of(listed.children, line.accepted);
  for (const auto& each : members) {
    if (each.name.find(ours.guid) == each.name.npos) continue;
    auto exists = make_request(opcode::exists, join(line.parent, each.name));
    auto found = co_await session->perform(exists, retry::always, ours.bound);
    if (found.error && found.error != errc::no_node) co_return found.error;
    if (found.error || found.stat.ephemeral_owner != ours.bound->key.id) continue;
    take_place(ours, exists.path, found.stat, line);
    seen.members = std::make_shared<const std::vector<member>>(std::move(members));
    co_return check_neighbours(*session, ours, strangers_among(listed.children, line.accepted));
  }
  co_return error_code();
}

}  // namespace

awaitable<error_code> enter_line(const core_ptr& session, const line_spec& line, const std::string& data,
                                 line_place& ours, line_reading& seen) {
  auto pass = co_await session->entrance().enter(session->get_scheduler());
  if (!pass) co_return asio::error::operation_aborted;
  auto pause = session->backoff();
  for (;;) {
    auto error = co_await session->wait_connected(ours.bound, never);
    if (error) co_return error;
    if (!ours.bound) ours.bound = session->current();
    // The list is executed right behind the create, so both cost one round trip.
    auto node = make_request(opcode::create, join(line.parent, protected_name(ours.guid, line.marker)));
    node.data = data;
    node.mode = create_mode::ephemeral_sequential;
    auto creating = session->send(std::move(node));
    auto listing = roll_call::of(session, line);
    auto created = co_await session->answer(creating);
    auto listed = co_await listing->wait();
    if (!created.error) {
      take_place(ours, std::move(created.path), created.stat, line);
      if (listed) seen = line_reading{std::move(listed), listing->parent()};
      co_return check_neighbours(*session, ours, listing->strangers());
    }
    if (created.error == errc::no_node) {
      error = co_await session->ensure_path(line.parent, ours.bound);
      if (error) co_return error;
    } else if (created.error == errc::connection_loss) {
      ours.may_have_ghost = true;
      error = co_await find_own(session, line, ours, seen);
      if (error || !ours.path.empty()) co_return error;
    } else if (created.throttled) {
      error = co_await session->pause_before_retry(pause, ours.bound);
      if (error) co_return error;
    } else {
      if (created.error == asio::error::operation_aborted || created.error == errc::server_error) {
        ours.may_have_ghost = true;
      }
      co_return created.error;
    }
  }
}

error_code check_neighbours(core& session, const line_place& ours, const std::vector<std::int32_t>& strangers) {
  const bool is_used = std::ranges::any_of(strangers, [&](std::int32_t each) { return before(each, ours.sequence); });
  if (!is_used && !is_exhausted(ours.sequence)) return error_code();
  session.remove_surely(ours.path, ours.bound);
  return is_used ? errc::foreign_data : errc::sequence_exhausted;
}

roll_call::roll_call(core_ptr session, const line_spec& line)
    : session_(std::move(session)),
      parent_(line.parent),
      accepted_(line.accepted),
      reads_parent_(line.reads_parent),
      changed_(session_->get_scheduler()) {}

std::shared_ptr<roll_call> roll_call::of(const core_ptr& session, const line_spec& line) {
  auto& next = session->commons().at<roll_call>(line.parent);
  auto joined = next.lock();
  if (joined && joined->suits(line)) return joined;
  auto made = std::make_shared<roll_call>(session, line);
  next = made;
  // Later: behind all who are about to get in line.
  asio::post(session->strand(), [made] { launch_detached(made->session_->strand(), owning(made, &roll_call::ask)); });
  return made;
}

bool roll_call::suits(const line_spec& line) const {
  return accepted_.data() == line.accepted.data() && reads_parent_ == line.reads_parent;
}

/// Those who wait are told in any case: without a list they make one of their own.
awaitable<void> roll_call::ask() {
  session_->commons().end<roll_call>(parent_);  // who comes now stands behind our list
  try {
    co_await list();
  } catch (const std::bad_alloc&) {
  }
  answered_ = true;
  changed_.notify();
}

awaitable<void> roll_call::list() {
  exchange_ptr reading;
  if (reads_parent_ == parent_reading::before_list) reading = read_parent();
  auto children = make_request(opcode::children, parent_);
  auto listing = session_->send(std::move(children));
  if (reads_parent_ == parent_reading::after_list) reading = read_parent();
  auto listed = co_await session_->answer(listing);
  if (reading) {
    auto parent = co_await session_->answer(reading);
    if (!parent.error) parent_node_ = std::make_shared<const backend::reply>(std::move(parent));
  }
  if (!listed.error) {
    session_->remove_orphans(parent_, listed.children);
    strangers_ = strangers_among(listed.children, accepted_);
    present_ = std::make_shared<const std::vector<member>>(members_of(listed.children, accepted_));
  }
}

exchange_ptr roll_call::read_parent() {
  auto parent = make_request(opcode::get, parent_);
  return session_->send(std::move(parent));
}

awaitable<member_list> roll_call::wait() {
  while (!answered_) {
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return nullptr;
  }
  co_return present_;
}

}  // namespace zkrecipes::detail
