#include "line/roll_call.hpp"

#include <new>
#include <utility>

namespace zkrecipes::detail {

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
  auto children = make_request(backend::opcode::children, parent_);
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
  auto parent = make_request(backend::opcode::get, parent_);
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
