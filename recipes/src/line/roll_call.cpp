#include "line/roll_call.hpp"

#include <utility>

#include "line/place.hpp"

namespace zkrecipes::detail {

roll_call::roll_call(core_ptr session, std::string parent, std::span<const std::string_view> accepted)
    : session_(std::move(session)),
      parent_(std::move(parent)),
      accepted_(accepted),
      changed_(session_->get_scheduler()) {}

std::shared_ptr<roll_call> roll_call::of(const core_ptr& session, const line_spec& line) {
  auto& next = session->next_roll_call(line.parent);
  auto joined = next.lock();
  if (joined && joined->accepted_.data() == line.accepted.data()) return joined;
  auto made = std::make_shared<roll_call>(session, line.parent, line.accepted);
  next = made;
  // Later: behind all who are about to get in line.
  asio::post(session->strand(), [made] { launch_detached(made->session_->strand(), owning(made, &roll_call::ask)); });
  return made;
}

awaitable<void> roll_call::ask() {
  session_->end_roll_call(parent_);  // who comes now stands behind our list
  auto children = make_request(backend::opcode::children, parent_);
  auto listing = session_->send(std::move(children));
  auto listed = co_await session_->answer(listing);
  if (!listed.error) {
    present_ = std::make_shared<const std::vector<member>>(members_of(listed.children, accepted_));
    strangers_ = strangers_among(listed.children, accepted_);
  }
  answered_ = true;
  changed_.notify();
}

awaitable<roster> roll_call::wait() {
  while (!answered_) {
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return nullptr;
  }
  co_return present_;
}

}  // namespace zkrecipes::detail
