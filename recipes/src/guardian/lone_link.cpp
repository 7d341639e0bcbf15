#include "guardian/lone_link.hpp"

#include <algorithm>
#include <utility>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

/// The answers, which can come after the caller has given up.
struct awaited_answers {
  std::vector<backend::reply> all;
  std::size_t open = 0;
};

error_code error_of(wake why) {
  if (why == wake::timed_out) return errc::timed_out;
  return why == wake::cancelled ? make_error_code(asio::error::operation_aborted) : error_code();
}

}  // namespace

lone_link::lone_link(scheduler_ptr on) : on_(std::move(on)), changed_(on_) {}

void lone_link::up(const backend::session_key& granted) {
  granted_ = granted;
  is_up_ = true;
  changed_.notify();
}

void lone_link::down(error_code reason) {
  is_up_ = false;
  why_down_ = reason;
  changed_.notify();
}

awaitable<outcome<backend::session_key>> lone_link::open(backend::link_options with, lease_clock::time_point deadline) {
  link_ = on_->world->connect(std::move(with), *this);
  while (!is_up_ && !why_down_) {
    auto why = co_await changed_.wait(deadline);
    if (auto error = error_of(why)) co_return failed<backend::session_key>(error);
  }
  if (!is_up_) co_return failed<backend::session_key>(why_down_);
  co_return outcome<backend::session_key>(error_code(), granted_);
}

awaitable<outcome<std::vector<backend::reply>>> lone_link::ask(std::vector<backend::request> all,
                                                               lease_clock::time_point deadline) {
  auto answers = std::make_shared<awaited_answers>();
  answers->open = all.size();
  backend::reply unanswered;
  unanswered.error = errc::connection_loss;
  unanswered.sent = is_up_;
  answers->all.resize(all.size(), unanswered);
  for (std::size_t i = 0; is_up_ && i < all.size(); ++i) {
    link_->submit(std::move(all[i]), [this, answers, i](backend::reply answer) {
      answers->all[i] = std::move(answer);
      if (--answers->open == 0) changed_.notify();
    });
  }
  error_code error;
  while (is_up_ && answers->open > 0 && !error) {
    auto why = co_await changed_.wait(deadline);
    error = error_of(why);
  }
  // The answers to what was pending come before the end of the link is told.
  const auto is_lost = [](const backend::reply& each) { return is_unanswered(each.error); };
  if (!error && std::ranges::any_of(answers->all, is_lost)) error = errc::connection_loss;
  if (error) drop(error);
  co_return outcome<std::vector<backend::reply>>(error, std::move(answers->all));
}

awaitable<error_code> lone_link::close_session(lease_clock::time_point deadline) {
  if (is_up_) link_->close_session();
  error_code error;
  while (is_up_ && !error) {
    auto why = co_await changed_.wait(deadline);
    error = error_of(why);
  }
  drop(error ? error : why_down_);
  co_return why_down_;
}

void lone_link::drop(const error_code& why) {
  link_.reset();
  is_up_ = false;
  why_down_ = why;
}

}  // namespace zkrecipes::detail
