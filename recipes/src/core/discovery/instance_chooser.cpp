#include "discovery/instance_chooser.hpp"

#include <algorithm>
#include <utility>

#include "discovery/service_snapshot.hpp"
#include "session/hook.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {
constexpr std::chrono::milliseconds first_rest{1'000};
}

instance_chooser::instance_chooser(children_reader_ptr reader, service_provider_options options)
    : reader_(std::move(reader)), options_(std::move(options)) {
  options_.accept = guarded(*get_scheduler(), std::move(options_.accept));
  options_.weight = guarded(*get_scheduler(), std::move(options_.weight));
}

/// Once there was a view, its instances can be chosen for as long as there is no other one, whatever keeps it from
/// being read.
awaitable<outcome<service_instance>> instance_chooser::pick() {
  auto seen = co_await reader_->current();
  auto& [error, nodes] = seen;
  if (error && !forbids_retry(error) && reader_->had_view()) {
    nodes = reader_->snapshot();
    error.clear();
  }
  if (error) co_return outcome<service_instance>(error, service_instance());
  learn(nodes);
  if (options_.accept || options_.weight || get_scheduler()->now() >= fit_until_) renew();
  if (fit_.empty()) co_return outcome<service_instance>(errc::no_node, service_instance());
  const auto& chosen = choose(fit_);
  co_return outcome<service_instance>(error_code(), *chosen.instance);
}

void instance_chooser::renew() {
  fit_ = candidates();
  fit_until_ = never;
  if (!fit_.empty()) leave_out_resting(fit_);
}

/// Calls that were begun before the rest, and fail during it, say nothing new.
void instance_chooser::note_error(const std::string& id) {
  const auto now = get_scheduler()->now();
  auto& each = streaks_[id];
  if (now < each.until) return;
  if (now - std::max(each.last, each.until) >= options_.rest) each = {};
  each.last = now;
  if (++each.count < options_.errors_until_rest) return;
  each.count = 0;
  each.rest = std::min(std::max(each.rest * 2, first_rest), options_.rest);
  each.until = now + each.rest;
  fit_until_ = {};
}

void instance_chooser::learn(const children_snapshot& nodes) {
  if (known_.nodes.nodes == nodes.nodes) return;
  auto change = interpret(known_.nodes, nodes);
  known_ = std::move(change.now);
  fit_until_ = {};
  // An instance that comes again begins without errors, also if we have not seen it gone.
  for (const auto& each : change.removed) streaks_.erase(each.id);
  std::erase_if(streaks_, [this](const auto& each) { return !is_known(each.first); });
}

bool instance_chooser::is_known(const std::string& id) const {
  return std::any_of(known_.instances.begin(), known_.instances.end(),
                     [&](const service_instance& each) { return each.id == id; });
}

instance_chooser::candidate_list instance_chooser::candidates() const {
  candidate_list fit;
  for (const auto& each : known_.instances) {
    if (!each.enabled || (options_.accept && !options_.accept(each))) continue;
    const auto weighs = weight(each);
    if (weighs > 0) fit.push_back({&each, weighs});
  }
  return fit;
}

std::uint64_t instance_chooser::weight(const service_instance& each) const {
  return options_.strategy == service_strategy::weighted && options_.weight ? options_.weight(each) : 1;
}

/// `now` for one that does not rest.
lease_clock::time_point instance_chooser::end_of_rest(const candidate& each, lease_clock::time_point now) const {
  const auto found = streaks_.find(each.instance->id);
  return found == streaks_.end() ? now : std::max(found->second.until, now);
}

/// At most half of them rest, those whose rest ends last: where more have failed at the same time, it is our own
/// network or what they all need that is at fault, and somebody has to be asked.
void instance_chooser::leave_out_resting(candidate_list& fit) {
  const auto now = get_scheduler()->now();
  std::vector<lease_clock::time_point> ends;
  for (const auto& each : fit) ends.push_back(end_of_rest(each, now));
  const auto last_to_stay = ends.begin() + static_cast<std::ptrdiff_t>((ends.size() - 1) / 2);
  std::nth_element(ends.begin(), last_to_stay, ends.end());
  const auto limit = *last_to_stay;
  std::erase_if(fit, [&](const candidate& each) {
    const auto end = end_of_rest(each, now);
    if (end > limit) fit_until_ = std::min(fit_until_, end);
    return end > limit;
  });
}

const instance_chooser::candidate& instance_chooser::choose(const candidate_list& fit) {
  switch (options_.strategy) {
    case service_strategy::round_robin: return fit[turn_++ % fit.size()];
    case service_strategy::random: break;
    case service_strategy::sticky: return stick(fit);
    case service_strategy::weighted: return by_weight(fit);
  }
  return fit[random() % fit.size()];
}

const instance_chooser::candidate& instance_chooser::stick(const candidate_list& fit) {
  const auto is_favourite = [this](const candidate& each) { return each.instance->id == favourite_; };
  if (favourite_at_ < fit.size() && is_favourite(fit[favourite_at_])) return fit[favourite_at_];
  auto same = std::ranges::find_if(fit, is_favourite);
  if (same == fit.end()) same = fit.begin() + static_cast<std::ptrdiff_t>(random() % fit.size());
  favourite_ = same->instance->id;
  favourite_at_ = static_cast<std::size_t>(same - fit.begin());
  return *same;
}

const instance_chooser::candidate& instance_chooser::by_weight(const candidate_list& fit) {
  if (!options_.weight) return fit[random() % fit.size()];
  std::uint64_t sum = 0;
  for (const auto& each : fit) sum += each.weight;
  auto left = random() % sum;
  auto chosen = fit.begin();
  for (; left >= chosen->weight; ++chosen) left -= chosen->weight;
  return *chosen;
}

}  // namespace zkrecipes::detail
