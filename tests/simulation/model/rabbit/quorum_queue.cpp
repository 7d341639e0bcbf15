#include "model/rabbit/quorum_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zkrecipes::simulation {

namespace {

constexpr std::uint64_t log_stream = 2'000;

}  // namespace

quorum_queue::quorum_queue(clockwork& clock, std::uint64_t seed, std::uint64_t number, std::string name,
                           const form& how, rabbit_observer& observer)
    : name_(std::move(name)),
      how_(how),
      observer_(observer),
      log_(std::make_shared<pipe>(clock, seed, log_stream + number, 200us, 8ms)) {}

void quorum_queue::submit(const user_ptr& by, action what) {
  if (is_deleted_) return;
  if (by) record_user(by);
  if (has_leader_) return send(std::move(what));
  waiting_.push_back({by, by == nullptr, std::move(what)});
}

void quorum_queue::record_user(const user_ptr& who) {
  std::erase_if(users_, [](const auto& each) { return each.expired(); });
  const auto is_it = [&who](const auto& each) { return each.lock() == who; };
  if (std::ranges::none_of(users_, is_it)) users_.push_back(who);
}

void quorum_queue::send(action what) {
  log_->send([weak = weak_from_this(), what = std::move(what)]() mutable {
    const auto self = weak.lock();
    if (!self || self->is_deleted_) return;
    what();
    self->deliver();
  });
}

void quorum_queue::put(detail::amqp_delivery what, std::string properties) {
  auto made = std::make_shared<rabbit_message>();
  made->place = ++places_;
  made->what = std::move(what);
  made->properties = std::move(properties);
  fresh_.push_back(made);
  observer_.queued(name_, *made);
}

void quorum_queue::consume(const user_ptr& by, std::size_t prefetch) {
  if (!by->is_alive()) return;
  consumers_.push_back({by, prefetch});
  observer_.consumed(name_);
}

quorum_queue::consumer* quorum_queue::find(consumer_list& in, const user_ptr& who) {
  const auto found = std::ranges::find(in, who, &consumer::who);
  return found == in.end() ? nullptr : &*found;
}

/// What has gone back meanwhile is not settled by this.
void quorum_queue::settle(const user_ptr& by, const std::vector<std::uint64_t>& checkouts) {
  for (auto* whose : {find(consumers_, by), find(forgotten_, by)}) {
    if (!whose) continue;
    for (const auto each : checkouts) {
      const auto gone = whose->unacknowledged.extract(each);
      if (!gone.empty()) observer_.removed(name_, *gone.mapped());
    }
  }
}

void quorum_queue::leave(const user_ptr& who) {
  for (auto* list : {&consumers_, &forgotten_}) {
    if (auto* whose = find(*list, who)) take_back(*whose);
    std::erase_if(*list, [&who](const consumer& each) { return each.who == who; });
  }
}

void quorum_queue::take_back(consumer& from) {
  for (const auto& [checkout, each] : std::exchange(from.unacknowledged, {})) {
    ++each->returns;
    if (how_.most && each->returns > *how_.most) {
      observer_.dropped(name_, *each);
      continue;
    }
    returned_.emplace(each->place, each);
  }
}

rabbit_message_ptr quorum_queue::take_next() {
  rabbit_message_ptr next;
  if (!returned_.empty()) {
    next = returned_.begin()->second;
    returned_.erase(returned_.begin());
  } else {
    next = fresh_.front();
    fresh_.pop_front();
  }
  return next;
}

/// What a forgotten consumer has goes back before another one is served.
void quorum_queue::deliver() {
  if (consumers_.empty()) return;
  for (auto& each : forgotten_) take_back(each);
  auto& active = consumers_.front();
  while (active.unacknowledged.size() < active.prefetch && ready() > 0) {
    const auto next = take_next();
    active.unacknowledged.emplace(++checkouts_, next);
    observer_.delivered(name_, *next);
    active.who->deliver(checkouts_, next);
  }
}

void quorum_queue::lose_leader() {
  has_leader_ = false;
  log_->freeze();
}

void quorum_queue::elect(bool forgets, bool returns_its_messages) {
  if (std::exchange(has_leader_, true) || is_deleted_) return;
  if (forgets && !consumers_.empty()) {
    auto& lost = consumers_.front();
    if (returns_its_messages) take_back(lost);
    forgotten_.splice(forgotten_.end(), consumers_, consumers_.begin());
  }
  log_->thaw();
  for (auto& each : std::exchange(waiting_, {})) {
    const auto by = each.by.lock();
    if (each.is_of_brokers || (by && by->is_alive())) send(std::move(each.what));
  }
  send([] {});  // the next consumer is served
}

void quorum_queue::lose_sight() {
  if (consumers_.empty()) return;
  take_back(consumers_.front());
  consumers_.splice(consumers_.end(), consumers_, consumers_.begin());
  if (has_leader_) send([] {});
}

void quorum_queue::remove() {
  if (std::exchange(is_deleted_, true)) return;
  observer_.deleted(name_, all());
  waiting_.clear();
  for (const auto& each : std::exchange(users_, {})) {
    if (const auto user = each.lock()) user->lose_queue(*this);
  }
}

rabbit_observer::messages quorum_queue::all() const {
  rabbit_observer::messages found(fresh_.begin(), fresh_.end());
  for (const auto& [place, each] : returned_) found.push_back(each);
  for (const auto* list : {&consumers_, &forgotten_}) {
    for (const auto& whose : *list) {
      for (const auto& [checkout, each] : whose.unacknowledged) found.push_back(each);
    }
  }
  return found;
}

}  // namespace zkrecipes::simulation
