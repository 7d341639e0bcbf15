#include "delivery/message_stages.hpp"

namespace zkrecipes::detail {

namespace {

bool is_processed(const message_in_hand& which) {
  return which.at == message_in_hand::stage::finished || which.at == message_in_hand::stage::committing;
}

}  // namespace

void message_stages::add(const message_in_hand& which) {
  ++counts_[static_cast<std::size_t>(which.at)];
  if (is_strict_) unprocessed_.insert(unprocessed_.end(), which.number);
}

void message_stages::set(message_in_hand& which, stage at) {
  const bool was_processed = is_processed(which);
  leave(which);
  which.at = at;
  ++counts_[static_cast<std::size_t>(at)];
  begun_ += which.is_begun() ? 1 : 0;
  if (at == stage::working) working_.insert({which.begun, which.number});
  if (at == stage::finished) finished_.insert(finished_.end(), which.number);
  if (at == stage::resting) resting_.insert({which.rests_until, which.number});
  if (is_strict_) track_processed(which, was_processed);
}

void message_stages::remove(const message_in_hand& which) {
  leave(which);
  if (!barring_.empty()) barring_.erase(which.number);
  unprocessed_.erase(which.number);
}

bool message_stages::has_finished() const {
  return !finished_.empty() && (unprocessed_.empty() || *finished_.begin() < *unprocessed_.begin());
}

/// It is in no stage any more.
void message_stages::leave(const message_in_hand& which) {
  if (which.at == stage::working) working_.erase({which.begun, which.number});
  if (which.at == stage::finished) finished_.erase(which.number);
  if (which.at == stage::resting) resting_.erase({which.rests_until, which.number});
  begun_ -= which.is_begun() ? 1 : 0;
  --counts_[static_cast<std::size_t>(which.at)];
}

void message_stages::track_processed(const message_in_hand& which, bool was_processed) {
  const bool is_done = is_processed(which);
  if (is_done && !was_processed) unprocessed_.erase(which.number);
  if (!is_done && was_processed) unprocessed_.insert(which.number);
  const bool bars_others = is_done && !lets_pass(which.outcome);
  if (bars_others) barring_.insert(which.number);
  if (!bars_others && !barring_.empty()) barring_.erase(which.number);
}

}  // namespace zkrecipes::detail
