#include "delivery/delivery_figures.hpp"

#include <chrono>
#include <utility>

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto figures_pause = 1s;
constexpr auto still_after = 45s;  // so an operator's look sees it within a minute
constexpr std::size_t longest_reason = 200;
constexpr std::size_t longest_name = 256;  // a source of the user's may have longer ones

/// As it stands in the record, which is written often.
std::string shown_reason(const std::string& reason) {
  return reason.empty() ? "no reason given" : reason.substr(0, longest_reason);
}

}  // namespace

lease_clock::time_point delivery_figures::next_time() const {
  if (present() != shown_.what) return shown_.at + figures_pause;
  const auto since = term_->work().busy_since();
  if (since == never) return never;
  if (!shown_.what.is_still) return since + still_after;
  // A call that was given up may be older than all whose messages are waited for.
  const auto first = window_.stages().working_since();
  return first == never || !shown_.what.still_message.empty() ? never : first + still_after;
}

delivery_figures::reading delivery_figures::read() const {
  const auto now = term_->session()->now();
  auto all = shown_;
  all.at = now;
  if (now < next_time()) return all;
  all.what = present();
  if (all.what != shown_.what) all.text = to_json(all.what);
  return all;
}

/// Only what changes with the work: else the record would be written again and again.
delivery_figures::figures delivery_figures::present() const {
  const auto status = frame_.board.read();
  figures all{status.received, status.done,    status.again,     status.parked, status.declined,
              status.waited,   status.commits, status.held_back, status.resting};
  if (breaker_.is_open()) all.held_off = shown_reason(breaker_.reason());
  all.is_still = is_still(term_->work().busy_since());
  if (const auto* which = hanging()) {
    all.still_message = which->what->name.substr(0, longest_name);
    all.still_since = which->begun;
  }
  if (!window_.all().empty()) all.oldest = window_.all().begin()->second.what->stat.ctime;
  return all;
}

bool delivery_figures::is_still(lease_clock::time_point since) const {
  return since != never && term_->session()->now() >= since + still_after;
}

const message_in_hand* delivery_figures::hanging() const {
  if (!is_still(term_->work().busy_since())) return nullptr;
  const auto& working = window_.stages().working();
  if (working.empty() || !is_still(working.begin()->first)) return nullptr;
  return &window_.all().at(working.begin()->second);
}

json_object delivery_figures::to_json(const figures& what) const {
  auto count = [](auto number) { return static_cast<std::int64_t>(number); };
  json_object all;
  if (what == figures()) return all;
  all.set("received", count(what.received)).set("done", count(what.done)).set("again", count(what.again));
  all.set("parked", count(what.parked)).set("commits", count(what.commits));
  if (what.declined) all.set("declined", count(what.declined));
  if (what.waited) all.set("waited", count(what.waited));
  all.set("held_back", count(what.held_back)).set("resting", count(what.resting));
  if (!what.held_off.empty()) all.set("held_off", what.held_off);
  if (what.is_still) all.set_flag("still", true);
  if (!what.still_message.empty()) {
    const auto age = std::chrono::ceil<std::chrono::milliseconds>(term_->session()->now() - what.still_since);
    all.set("still_message", what.still_message).set("still_since_ms", wall_time(*term_->session()) - age.count());
  }
  return all.set("oldest_ms", what.oldest);
}

std::int64_t wall_time(const core& session) {
  const auto since = session.get_scheduler()->world->wall_clock().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

}  // namespace zkrecipes::detail
