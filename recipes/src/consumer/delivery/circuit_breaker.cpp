#include "delivery/circuit_breaker.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto first_probe_pause = 1s;
constexpr std::size_t enough_messages = 3;

}  // namespace

circuit_breaker::circuit_breaker(delivery_window& window, const queue_consumer_options& options)
    : window_(window), options_(options) {}

bool circuit_breaker::spares(message_in_hand& which, const message_outcome& failed, bool is_forbidden,
                             lease_clock::time_point now) {
  on_failure(which, failed.reason(), is_forbidden, now);
  if (takes_count(which, now)) return false;
  if (failed.after()) {
    window_.rest(which, now + std::max<std::chrono::milliseconds>(bounded(*failed.after()), first_probe_pause));
  } else if (is_open_) {
    window_.rest(which, never);
    spared_.insert(which.number);
  } else {
    rest_until(which, which.counts_from, now);
  }
  return true;
}

void circuit_breaker::on_failure(message_in_hand& which, const std::string& reason, bool is_forbidden,
                                 lease_clock::time_point now) {
  // It has failed before, and others have succeeded since.
  which.is_at_fault = which.failed != lease_clock::time_point() && which.failed < last_success_;
  which.failed = now;
  if (options_.retry.outage.count() == 0) return;
  const bool is_common = is_forbidden && !which.is_at_fault;
  if (!is_open_ && (is_common || (!which.is_at_fault && are_enough(which)))) open(reason, now);
  if (!is_open_ || !std::exchange(is_probing_, false)) return;
  next_probe_ = now + varied(std::min<lease_clock::duration>(pause_, options_.retry.outage));
  pause_ = std::min<lease_clock::duration>(2 * pause_, longest_probe_pause);
}

/// Shorter by up to `message_retry::jitter`. A dependency that is away for a part of each second, as behind a quota,
/// could meet all attempts in that part.
lease_clock::duration circuit_breaker::varied(lease_clock::duration pause) {
  const auto share = std::generate_canonical<double, 32>(random_);
  return std::chrono::duration_cast<lease_clock::duration>(pause * (1 - options_.retry.jitter * share));
}

/// The second of a lane is tried when the first has had all its attempts.
bool circuit_breaker::are_enough(const message_in_hand& which) {
  const bool is_another = failing_.emplace(which.number, which.lane).second;
  const auto of_its_lane = [&](const auto& each) { return each.second == which.lane; };
  return is_another && (failing_.size() >= enough_messages || std::ranges::count_if(failing_, of_its_lane) > 1);
}

/// Whether the attempt that has failed counts.
bool circuit_breaker::takes_count(const message_in_hand& which, lease_clock::time_point now) {
  if (now < which.counts_from) return false;
  if (!is_open_ || which.is_at_fault) return true;
  if (!first_ || which.number < *first_ || !find_message(window_.all(), *first_)) first_ = which.number;
  if (which.number != *first_ || now < next_count_) return false;
  next_count_ = now + options_.retry.outage;
  return true;
}

void circuit_breaker::open(const std::string& reason, lease_clock::time_point now) {
  is_open_ = true;
  reason_ = reason;
  next_count_ = now + options_.retry.outage;
  pause_ = first_probe_pause;
  is_probing_ = true;  // what has opened it counts as the first probe
  is_prepared_ = false;
  first_.reset();
}

void circuit_breaker::on_success(lease_clock::time_point now) {
  last_success_ = now;
  close();
}

void circuit_breaker::close() {
  failing_.clear();
  is_open_ = is_probing_ = false;
  while (!spared_.empty()) release(*spared_.begin());
}

void circuit_breaker::rest(message_in_hand& which, std::chrono::milliseconds pause, bool is_asked_for,
                           lease_clock::time_point now) {
  which.counts_from = now + pause;
  if (is_asked_for || options_.retry.outage.count() == 0) return window_.rest(which, which.counts_from);
  rest_until(which, which.counts_from, now);
}

/// Others can not tell whether the message is at fault where none is begun, or none succeeds. So it is tried earlier.
void circuit_breaker::rest_until(message_in_hand& which, lease_clock::time_point latest, lease_clock::time_point now) {
  const bool keeps_its_pause = which.is_at_fault && !is_strict() && !is_open_;
  const auto early = now + varied(std::max(options_.retry.first, longest_probe_pause));
  window_.rest(which, keeps_its_pause ? latest : std::min(latest, early));
}

bool circuit_breaker::lets_begin(lease_clock::time_point now) const {
  if (!is_open_) return true;
  // At most once: what is removed before it is processed is no attempt, and its outcome is known at its end.
  const bool is_removed_first = options_.delivery == delivery_guarantee::at_most_once;
  return now >= next_probe_ &&
         (is_removed_first ? window_.stages().working_count() : window_.stages().begun_count()) == 0;
}

void circuit_breaker::prepare_probe(lease_clock::time_point now) {
  if (is_open_ && window_.all().empty()) close();  // those that failed are parked, or have gone
  if (!is_open_ || spared_.empty()) return;
  const bool has_other = window_.next(now) || !window_.missing().empty();
  if (std::exchange(is_prepared_, true) && has_other) return;
  if (has_other && !is_first_due(now)) return;
  while (!spared_.empty() && !release(next_spared(now))) {  // some may have gone
  }
}

/// Whether an attempt at the first message would count.
bool circuit_breaker::may_count(lease_clock::time_point now) const {
  const auto* which = first_ ? find_message(window_.all(), *first_) : nullptr;
  return now >= next_count_ && (!which || now >= which->counts_from);
}

bool circuit_breaker::is_first_due(lease_clock::time_point now) const {
  return may_count(now) && first_ && spared_.contains(*first_);
}

/// The first message if that counts, or the one behind the last probe.
std::uint64_t circuit_breaker::next_spared(lease_clock::time_point now) {
  if (is_first_due(now)) return *first_;
  const auto behind = spared_.upper_bound(last_probe_);
  last_probe_ = behind == spared_.end() ? *spared_.begin() : *behind;
  return last_probe_;
}

void circuit_breaker::on_begun() {
  if (!is_open_) return;
  is_probing_ = true;
  is_prepared_ = false;
}

/// False: it has gone.
bool circuit_breaker::release(std::uint64_t number) {
  spared_.erase(number);
  auto* which = window_.find_waiting(number);
  if (!which || which->at != message_in_hand::stage::resting) return false;
  window_.restart(*which);
  return true;
}

}  // namespace zkrecipes::detail
