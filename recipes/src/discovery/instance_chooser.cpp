#include "discovery/instance_chooser.hpp"

#include <algorithm>
#include <utility>

#include "discovery/service_snapshot.hpp"
#include "session/hook.hpp"

namespace zkrecipes::detail {

instance_chooser::instance_chooser(children_reader_ptr reader, service_provider_options options)
    : reader_(std::move(reader)), options_(std::move(options)) {
  options_.accept = guarded(*get_scheduler(), std::move(options_.accept));
  options_.weight = guarded(*get_scheduler(), std::move(options_.weight));
}

awaitable<outcome<service_instance>> instance_chooser::pick() {
  auto seen = co_await reader_->current();
  auto& [error, nodes] = seen;
  if (error) co_return outcome<service_instance>(error, service_instance());
  learn(nodes);
  auto fit = candidates();
  const bool none = fit.empty();
  std::erase_if(fit, [this](const candidate& each) { return rests(each.instance->id); });
  if (fit.empty()) co_return outcome<service_instance>(none ? errc::no_node : errc::busy, service_instance());
  const auto& chosen = choose(fit);
  co_return outcome<service_instance>(error_code(), *chosen.instance);
}

void instance_chooser::note_error(const std::string& id) {
  const auto now = get_scheduler()->now();
  auto& [count, last] = strikes_[id];
  if (count > 0 && now - last >= options_.rest) count = 0;
  ++count;
  last = now;
}

void instance_chooser::learn(const children_snapshot& nodes) {
  if (known_.nodes.nodes == nodes.nodes) return;
  auto change = interpret(known_.nodes, nodes);
  known_ = std::move(change.now);
  // An instance that comes again begins without errors, also if we have not seen it gone.
  for (const auto& each : change.removed) strikes_.erase(each.id);
  std::erase_if(strikes_, [this](const auto& each) { return !is_known(each.first); });
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

bool instance_chooser::rests(const std::string& id) const {
  auto found = strikes_.find(id);
  return found != strikes_.end() && found->second.count >= options_.errors_until_rest &&
         get_scheduler()->now() < found->second.last + options_.rest;
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
  auto same =
      std::find_if(fit.begin(), fit.end(), [this](const auto& each) { return each.instance->id == favourite_; });
  const auto& chosen = same != fit.end() ? *same : fit[random() % fit.size()];
  favourite_ = chosen.instance->id;
  return chosen;
}

const instance_chooser::candidate& instance_chooser::by_weight(const candidate_list& fit) {
  std::uint64_t sum = 0;
  for (const auto& each : fit) sum += each.weight;
  auto left = random() % sum;
  auto chosen = fit.begin();
  for (; left >= chosen->weight; ++chosen) left -= chosen->weight;
  return *chosen;
}

}  // namespace zkrecipes::detail
