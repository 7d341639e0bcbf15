#include "hold/tenure.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "hold/descendants.hpp"
#include "line/line_spec.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zkrecipes::errc;

constexpr auto pause_between_kills = 5ms;
constexpr auto pause_if_in_vain = 100ms;
constexpr int kills_until_in_vain = 200;
constexpr std::chrono::milliseconds longest_grace = 1000h;

/// Killed processes need some time to end: a twentieth of the session's timeout. The lease's margin, a tenth, follows.
std::chrono::nanoseconds reserve_of(std::chrono::milliseconds session_timeout) {
  return std::clamp<std::chrono::nanoseconds>(session_timeout / 20, 20ms, 500ms);
}

}  // namespace

/// A lease that is prolonged in time still lasts for 0.35 of the timeout, less four round trips, when that happens: see
/// `lease_mode::strict`. Grace and reserve leave half of that to slow answers.
tenure::tenure(zkrecipes::session over, zkrecipes::ownership& held, tenure_limits with, alarm& wake,
               boot_timer& last_resort, message_hook say)
    : session_(std::move(over)),
      held_(held),
      grace_(with.grace),
      grace_at_loss_(std::min(with.grace, with.session_timeout / 8)),
      reserve_(reserve_of(with.session_timeout)),
      alarm_(wake),
      last_resort_(last_resort),
      say_(std::move(say)) {}

bool tenure::may_begin() const { return clock::now() < last_moment() - grace_at_loss_; }

void tenure::prepare() { last_resort_.set(last_moment() + reserve_ / 2); }

asio::awaitable<tenure_end> tenure::run(command_process& command) {
  listen();
  for (;;) {
    const bool is_any_left = command.take_ends();
    if (end_ == tenure_end::finished ? command.status().has_value() : !is_any_left) break;
    const auto present = clock::now();
    consider(present);
    kill_if_due(present);
    co_await alarm_.wait_until(next_look(present));
  }
  last_resort_.clear();
  co_return end_;
}

void tenure::abandon() {
  is_abandoned_ = true;
  alarm_.ring();
}

/// The handlers may be called when this has gone. The node tells how long the one that asks is ready to wait, counted
/// from when we are told.
void tenure::listen() {
  held_.async_lost([wake = &alarm_](const auto&) { wake->ring(); });
  held_.async_revoked([wake = &alarm_, seen = request_, over = session_, node = held_.path()](const auto& why) mutable {
    seen->is_there = why == errc::revoked;
    wake->ring();
    if (!seen->is_there) return;
    over.async_get(node, [wake, seen, told = clock::now()](const auto& error, const zkrecipes::node_data& read) {
      const auto grace = error ? longest_grace : zkrecipes::detail::grace_of(read.data);
      if (grace < longest_grace) seen->due = told + grace;
      wake->ring();
    });
  });
}

void tenure::consider(clock::time_point present) {
  const auto last = last_moment();
  if (present < last) prepare();
  if (end_ != tenure_end::finished) return;
  if (held_.error() == errc::revoked) {
    begin_to_end(tenure_end::asked, 0ns, "another client has asked for it, and the grace is over");
  } else if (held_.error()) {
    begin_to_end(tenure_end::lost, 0ns, reason_of_loss());
  } else if (request_->is_there) {
    begin_to_end(tenure_end::asked, grace_, "another client asks for it");
  } else if (present >= last - grace_at_loss_) {
    begin_to_end(tenure_end::lost, grace_at_loss_, reason_of_loss());
  } else if (is_abandoned_) {
    begin_to_end(tenure_end::abandoned, grace_, "zkadmin was killed");
  }
}

void tenure::begin_to_end(tenure_end why, std::chrono::nanoseconds grace, const std::string& reason) {
  end_ = why;
  kill_at_ = clock::now() + grace;
  if (grace > 0ns) {
    signal_descendants(SIGTERM);
    signal_descendants(SIGCONT);  // one that is stopped would not see it
  }
  say_(reason + ": the command is ended");
}

void tenure::kill_if_due(clock::time_point present) {
  if (end_ == tenure_end::finished || present < kill_time()) return;
  const pid_t forbidden = signal_descendants(SIGKILL);
  if (forbidden != 0 && !std::exchange(is_forbidden_, true))
    say_("process " + std::to_string(forbidden) + " has other rights and can not be killed");
  if (++kills_ != kills_until_in_vain) return;
  const auto left = descendants();
  if (!left.empty()) say_("process " + std::to_string(left.front()) + " does not end");
}

/// When nothing of the command may be left, as far as we know now.
tenure::clock::time_point tenure::last_moment() const { return held_.valid_until() - reserve_; }

/// Once it is to end.
tenure::clock::time_point tenure::kill_time() const {
  const auto taken_at = request_->due.value_or(clock::time_point::max());
  return std::min({kill_at_, last_moment(), taken_at - reserve_});
}

tenure::clock::time_point tenure::next_look(clock::time_point present) const {
  if (kills_ > 0) return present + (kills_ < kills_until_in_vain ? pause_between_kills : pause_if_in_vain);
  return end_ == tenure_end::finished ? last_moment() - grace_at_loss_ : kill_time();
}

std::string tenure::reason_of_loss() const {
  const auto error = held_.error();
  return error ? error.message() : "no server says in time that it is still ours";
}

}  // namespace zkadmin
