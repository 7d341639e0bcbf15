#include "session/operation.hpp"

#include <algorithm>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/system_executor.hpp>

#include <zkrecipes/detail/initiate.hpp>

namespace zkrecipes::detail {

namespace asio = boost::asio;

void call_later(asio::any_io_executor on, asio::any_completion_handler<void()> what) {
  asio::post(on, std::move(what));
}

void call_later(asio::any_completion_executor on, asio::any_completion_handler<void()> what) {
  auto target = asio::prefer(on, asio::execution::outstanding_work.tracked);
  asio::post(asio::system_executor(), [target = std::move(target), what = std::move(what)]() mutable {
    asio::dispatch(target, std::move(what));
  });
}

namespace {

/// So many are ended in one step of the strand, which has other things to do.
constexpr int most_in_one_step = 100;
/// An operation that minds the limit itself comes first: it tells the log what it was that had no connection.
constexpr std::chrono::milliseconds behind_others{1};

}  // namespace

reach_limit::waiting::waiting(reach_limit& in, asio::cancellation_signal& signal)
    : in_(in), signal_(signal), since_(in.world_.now()), here_(in.all_.insert(in.all_.end(), this)) {
  try {
    if (in_.limit_.count() && !in_.is_connected_ && !in_.timer_) in_.set_timer();
  } catch (...) {  // there is no destructor behind this
    in_.all_.erase(here_);
    throw;
  }
}

reach_limit::waiting::~waiting() {
  if (!is_over_) in_.all_.erase(here_);
  if (in_.all_.empty()) in_.stop_timer();  // a program that stops meanwhile does not wait for it
}

void reach_limit::connected() {
  is_connected_ = true;
  stop_timer();
}

void reach_limit::disconnected() {
  if (!is_connected_) return;
  is_connected_ = false;
  since_ = world_.now();
  if (limit_.count() && !all_.empty()) set_timer();
}

void reach_limit::set_timer() {
  timer_ = world_.call_at(std::max(all_.front()->since_, since_) + limit_ + behind_others, [this] {
    timer_ = 0;
    end_late();
  });
}

void reach_limit::stop_timer() {
  if (timer_) world_.cancel(timer_);
  timer_ = 0;
}

void reach_limit::end_late() {
  const auto present = world_.now();
  for (int i = 0; i < most_in_one_step && !all_.empty(); ++i) {
    auto& first = *all_.front();
    if (present < std::max(first.since_, since_) + limit_ + behind_others) break;
    all_.pop_front();
    first.is_over_ = true;
    first.signal_.emit(asio::cancellation_type::total);
  }
  if (!all_.empty()) set_timer();
}

}  // namespace zkrecipes::detail
