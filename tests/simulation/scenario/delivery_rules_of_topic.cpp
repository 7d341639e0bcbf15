// What a topic's batches and its position tell of the messages.
#include "scenario/coordinator.hpp"
#include "topic/log_position.hpp"
#include "topic/packed_batch.hpp"

namespace zkrecipes::simulation {

namespace {

/// The batch of the topic's only shard at this path.
std::optional<detail::batch_name> batch_of(const std::string& path) {
  const std::string folder = std::string(service::shard_path) + '/';
  return path.starts_with(folder) ? detail::parse_batch_name(std::string_view(path).substr(folder.size()))
                                  : std::nullopt;
}

}  // namespace

void delivery_rules::record_batch(const change& what) {
  const auto batch = batch_of(what.path);
  if (!batch) return;
  const auto content = detail::unpack(what.data);
  in_.require(content && content->size() == batch->count, "a batch is what its name says", what.path);
  for (std::uint32_t i = 0; content && i < content->size(); ++i) {
    ++produced_;
    in_.require((*content)[i].second == std::to_string(produced_), "produced once and in order", what.path);
    const detail::message_place where{batch->number, i};
    places_[produced_] = where;
    numbers_[queue_ + '/' + message_name(where)] = produced_;
    batches_[batch->number].insert(produced_);
  }
}

/// Messages leave the topic, for the group, when its position moves behind them.
void delivery_rules::record_position(const change& what, std::set<std::uint64_t>& leaving) {
  if (what.path != std::string(service::shard_path) + "/_at/" + service::group) return;
  const auto position = detail::parse_position(what.data);
  in_.require(position.has_value(), "a position can be read", what.data);
  if (!position) return;
  for (const auto& [number, where] : places_) {
    if (position->is_settled(where)) {
      if (behind_.insert(number).second) leaving.insert(number);
    } else {
      in_.require(!behind_.contains(number), "a position never moves back", what.data);
    }
  }
  for (const auto& [where, attempts] : position->failed) {
    const auto path = queue_ + '/' + message_name(where);
    auto& known = failed_[number_of(path)];
    in_.require(attempts.count <= known + 1, "attempts are counted one by one", what.data);
    change counted;
    counted.path = path;
    if (attempts.count > known) check_attempts(counted);
    known = attempts.count;
  }
}

void delivery_rules::check_removal(const change& what) {
  const auto batch = batch_of(what.path);
  if (!batch) return;
  for (const auto number : batches_[batch->number]) {
    in_.require(behind_.contains(number), "a batch is removed when it is consumed", what.path);
  }
  batches_.erase(batch->number);
}

/// An operator has removed a batch.
void delivery_rules::record_lost_batch(const std::string& path) {
  const auto batch = batch_of(path);
  if (!batch) return;
  for (const auto number : batches_[batch->number]) {
    if (!behind_.contains(number)) deleted_.insert(number);
  }
  batches_.erase(batch->number);
}

}  // namespace zkrecipes::simulation
