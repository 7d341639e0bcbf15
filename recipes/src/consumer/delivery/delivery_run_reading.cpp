// How a run gets its messages.
#include <string>
#include <utility>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery/delivery_run.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

// The lane of a message: see `delivery_window`.

/// By key it is the key, which is empty if it can not be told; with `message_repeats` it is the name of the producer.
std::string lane_of(const queue_consumer_options& options, const message& what);

std::string lane_of(const queue_consumer_options& options, const message& what) {
  if (options.order == message_order::none) return what.name;
  if (options.order == message_order::strict) return {};
  try {
    if (!options.repeats) return options.key(what);
    auto origin = options.repeats->origin(what);
    return origin ? std::move(origin->producer) : std::string();
  } catch (...) {
    return {};
  }
}

/// Drops what was received of keys that were revived, so that it comes again behind what was put back. Waits for
/// whatever refers to messages of the window, or is about to add some.
void delivery_run::take_up_revived() {
  if (!parked_.has_revived()) return;
  stop_reading();
  if (is_receiving_ || is_reading_ || is_committing_) return;
  for (const auto& key : parked_.take_revived()) frame_->source->put_back(window_.drop_lane(key));
}

/// Somebody else has moved the position of the source. What was received and processed before does not count; calls
/// that run are waited for.
void delivery_run::reopen_source() {
  if (must_open_ || !frame_->source->is_outdated()) return;
  stop_reading();
  if (is_receiving_ || is_reading_ || is_committing_ || !calls_.empty()) return;
  const auto lost = window_.count_removed();
  frame_->board.change([&](queue_consumer_status& status) { status.lost += lost; });
  for (const auto& each : window_.drop_all()) probation_.put_back(each);
  must_open_ = true;
}

void delivery_run::read_on() {
  const auto& strand = get_scheduler()->strand;
  if (frame_->source->is_outdated() && !must_open_) return;
  if (parked_.has_revived()) return;
  // While all places are taken by messages that rest, or the window is held off, nothing else would tell of a seek.
  const bool is_idle = calls_.empty() && !is_committing_ && !committer_.has_work();
  const bool is_to_look = is_idle && frame_->source->wants_look();
  if (!is_receiving_ && (window_.room() > 0 || is_to_look)) {
    is_receiving_ = true;
    receiver_ = background();
    receiver_.run(strand, owning(shared_from_this(), &delivery_run::receive));
  }
  if (!is_reading_ && !window_.missing().empty()) {
    is_reading_ = true;
    reader_ = background();
    reader_.run(strand, owning(shared_from_this(), &delivery_run::read_missing));
  }
}

void delivery_run::stop_reading() {
  if (is_receiving_) receiver_.stop();
  if (is_reading_) reader_.stop();
}

awaitable<void> delivery_run::receive() {
  outcome<std::vector<message>> received;
  auto& [error, messages] = received;
  if (std::exchange(must_open_, false)) error = co_await frame_->source->open();
  if (!error) error = co_await repeats_.prepare();
  if (!error) error = co_await probation_.prepare(*frame_->source);
  if (!error) error = co_await parked_.prepare(*frame_->source);  // before the list: what is revived in between waits
  if (!error) received = co_await frame_->source->receive(window_.room());
  if (error && !is_cancelled(error)) error_ = error;
  const auto passed_over = frame_->source->take_passed_over();
  frame_->board.change([&](queue_consumer_status& status) {
    status.received += messages.size();
    status.passed_over += passed_over;
  });
  for (auto& each : messages) {
    auto lane = lane_of(frame_->options, each);
    const bool is_sound = frame_->source->problem_of(each.name).empty();
    window_.add(std::move(each), std::move(lane), get_scheduler()->now(), is_sound);
  }
  is_receiving_ = false;
  tell();
}

awaitable<void> delivery_run::read_missing() {
  std::vector<std::uint64_t> missing;
  std::vector<std::string> names;
  for (const auto* each : window_.missing()) {
    missing.push_back(each->number);
    names.push_back(each->what->name);
  }
  auto read = co_await frame_->source->read_again(std::move(names));
  auto& [error, found] = read;
  if (error && !is_cancelled(error)) error_ = error;
  for (std::size_t i = 0; !error && i < missing.size(); ++i) {
    auto* which = window_.find_waiting(missing[i]);
    if (!which) continue;  // it was declined meanwhile
    if (found[i]) {
      window_.load(*which, std::move(*found[i]));
    } else {
      frame_->board.change([](queue_consumer_status& status) { ++status.passed_over; });
      probation_.settled(which->what->name);
      window_.remove(*which);
    }
  }
  is_reading_ = false;
  tell();
}

}  // namespace zkrecipes::detail
