#include "delivery/delivery_intake.hpp"

#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

/// The lane of a message: see `delivery_window`. By key it is the key, which is empty if it can not be told; with
/// `message_repeats` it is the name of the producer.
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

}  // namespace

delivery_intake::delivery_intake(core_ptr session, delivery_frame& frame, delivery_window& window, probation& watch,
                                 parked_keys& parked, delivery_repeats& repeats, delivery_news& news)
    : session_(std::move(session)),
      frame_(frame),
      window_(window),
      probation_(watch),
      parked_(parked),
      repeats_(repeats),
      news_(news) {}

void delivery_intake::take_up_revived(bool is_committing) {
  if (!parked_.has_revived()) return;
  stop();
  if (is_reading() || is_committing) return;
  for (const auto& key : parked_.take_revived()) frame_.source->put_back(drop_lane(window_, key));
}

void delivery_intake::reopen(bool is_busy) {
  if (must_open_ || !frame_.source->is_outdated()) return;
  stop();
  if (is_reading() || is_busy) return;
  const auto lost = count_removed(window_.all());
  frame_.board.change([&](queue_consumer_status& status) { status.lost += lost; });
  for (const auto& each : drop_all(window_)) probation_.put_back(each);
  must_open_ = true;
}

void delivery_intake::read_on(const std::shared_ptr<void>& run, bool is_idle) {
  if (frame_.source->is_outdated() && !must_open_) return;
  if (parked_.has_revived()) return;
  const std::shared_ptr<delivery_intake> self(run, this);
  // While all places are taken by messages that rest, or the window is held off, nothing else would tell of a seek.
  const bool is_to_look = is_idle && frame_.source->wants_look();
  if (!is_receiving_ && (window_.room() > 0 || is_to_look)) {
    is_receiving_ = true;
    receiver_ = background();
    receiver_.run(session_->strand(), owning(self, &delivery_intake::receive));
  }
  if (!is_rereading_ && !window_.missing().empty()) {
    is_rereading_ = true;
    rereader_ = background();
    rereader_.run(session_->strand(), owning(self, &delivery_intake::read_missing));
  }
}

void delivery_intake::stop() {
  if (is_receiving_) receiver_.stop();
  if (is_rereading_) rereader_.stop();
}

awaitable<void> delivery_intake::receive() {
  outcome<std::vector<message>> received;
  auto& [error, messages] = received;
  if (std::exchange(must_open_, false)) error = co_await frame_.source->open();
  if (!error) error = co_await repeats_.prepare();
  if (!error) error = co_await probation_.prepare(*frame_.source);
  if (!error) error = co_await parked_.prepare(*frame_.source);  // before the list: what is revived in between waits
  if (!error) received = co_await frame_.source->receive(window_.room());
  if (error && !is_cancelled(error)) news_.error = error;
  const auto passed_over = frame_.source->take_passed_over();
  frame_.board.change([&](queue_consumer_status& status) {
    status.received += messages.size();
    status.passed_over += passed_over;
  });
  for (auto& each : messages) {
    auto lane = lane_of(frame_.options, each);
    const bool is_sound = frame_.source->problem_of(each.name).empty();
    window_.add(std::move(each), std::move(lane), session_->now(), is_sound);
  }
  is_receiving_ = false;
  news_.notify();
}

awaitable<void> delivery_intake::read_missing() {
  std::vector<std::uint64_t> missing;
  std::vector<std::string> names;
  for (const auto* each : window_.missing()) {
    missing.push_back(each->number);
    names.push_back(each->what->name);
  }
  auto read = co_await frame_.source->read_again(std::move(names));
  auto& [error, found] = read;
  if (error && !is_cancelled(error)) news_.error = error;
  for (std::size_t i = 0; !error && i < missing.size(); ++i) {
    auto* which = window_.find_waiting(missing[i]);
    if (!which) continue;  // it was declined meanwhile
    if (found[i]) {
      window_.load(*which, std::move(*found[i]));
    } else {
      frame_.board.change([](queue_consumer_status& status) { ++status.passed_over; });
      probation_.settled(which->what->name);
      window_.remove(*which);
    }
  }
  is_rereading_ = false;
  news_.notify();
}

}  // namespace zkrecipes::detail
