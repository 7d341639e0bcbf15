#include "queue/queue_frame.hpp"

#include <algorithm>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr auto lasting = 60s;
/// The slowest pace that is believed. Clocks differ by less, unless somebody sets one: then an item comes late by at
/// most about 2 % of the wait.
constexpr double slowest = 0.98;

}  // namespace

awaitable<error_code> server_clock::learn() {
  const auto& session = frame_->session;
  const auto path = frame_->where.on_side(clock_name);
  while (!is_known()) {
    auto error = co_await session->wait_connected(nullptr, never);
    if (error) co_return error;
    const auto sent = session->now();
    auto write = make_request(backend::opcode::set, path);
    auto written = co_await session->perform(std::move(write), retry::once);
    if (written.error == errc::no_node) {
      error = co_await session->ensure_path(path);
      if (error) co_return error;
    } else if (written.error && !may_have_happened(written.error)) {
      co_return written.error;
    } else if (!written.error) {
      observe(written.stat.mtime, sent, session->now());
    }
  }
  co_return error_code();
}

void server_clock::observe(std::int64_t stamp, lease_clock::time_point sent, lease_clock::time_point answered) {
  pace_ = pace(stamp, sent);
  stamp_ = stamp;
  sent_ = sent;
  answered_ = answered;
  connection_ = frame_->session->counters().connects;
}

/// Since the last stamp at least `ours` has passed on our clock, and on the leader's clock at most a millisecond more
/// than the stamps show. So this ratio is the most that the leader's pace can be.
double server_clock::pace(std::int64_t stamp, lease_clock::time_point sent) const {
  const bool is_same_leader = connection_ == frame_->session->counters().connects;
  const auto ours = std::chrono::duration<double, std::milli>(sent - answered_).count();
  if (!is_same_leader || ours < 1) return 1;
  return std::clamp(static_cast<double>(stamp + 1 - stamp_) / ours, slowest, 1.0);
}

bool server_clock::is_known() const {
  return connection_ != 0 && connection_ == frame_->session->counters().connects &&
         frame_->session->now() - answered_ < lasting;
}

std::int64_t server_clock::earliest() const {
  return stamp_ + std::chrono::floor<milliseconds>((frame_->session->now() - answered_) * pace_).count();
}

std::int64_t server_clock::latest() const {
  return stamp_ + std::chrono::ceil<milliseconds>(frame_->session->now() - sent_).count();
}

lease_clock::time_point server_clock::when(std::int64_t shown) const {
  const auto ahead = std::clamp<std::int64_t>(shown - stamp_, 0, milliseconds(lasting).count());
  return answered_ + std::chrono::ceil<milliseconds>(milliseconds(ahead) / pace_);
}

}  // namespace zkrecipes::detail
