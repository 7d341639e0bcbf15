#include "rabbitmq/queue_puts.hpp"

#include <algorithm>

#include <zkrecipes/consumer/shard.hpp>

namespace zkrecipes::detail {

void queue_puts::clear() {
  publisher_.clear();
  const auto sent = std::exchange(messages_, {});
  let_go(waiting_);
  let_go(results_);
}

void queue_puts::fill() {
  while (!waiting_.empty()) {
    const auto first = waiting_.front();
    const auto& [key, data] = first->at(first->taken());
    const auto bytes = key.size() + data.size();
    if (!publisher_.has_room(bytes)) return;
    const auto shard = shard_of(key, shards_);
    const auto place = publisher_.add(shard, bytes);
    const auto number = numbering_.next(shard, first->given(first->taken()));
    messages_[place] = {first, first->taken(), shard, number};
    first->take();
    if (first->is_taken()) waiting_.pop_front();
  }
}

void queue_puts::on_put(std::uint64_t place) {
  const auto found = messages_.find(place);
  const auto which = std::move(found->second);
  messages_.erase(found);
  which.of->on_put(which.index, which.number.number);
  if (which.of->is_complete()) results_.push_back(which.of->result());
}

void queue_puts::fail(std::uint64_t place, const error_code& why) {
  const auto which = messages_.at(place);
  fail(which.of, which.index, why);
}

void queue_puts::fail(progress_ptr which, std::size_t index, const error_code& why) {
  const bool is_waiting = !which->is_taken();
  which->fail(index, why);
  if (is_waiting && which->is_taken()) std::erase(waiting_, which);
  for (auto each = messages_.begin(); each != messages_.end();) {
    const auto now = each++;
    if (now->second.of != which || now->second.index < which->end()) continue;
    const bool may_be_put = publisher_.forget(now->first) && now->second.index > index;
    const auto gone = now->second;
    messages_.erase(now);
    skip(gone, may_be_put);
  }
  if (which->is_complete()) results_.push_back(which->result());
}

/// The next message of its queue says that this number is that of no message, or that nothing is known of it, so that
/// it is not missed.
void queue_puts::skip(const message& which, bool may_be_put) {
  const auto& number = which.number;
  const bool is_unknown = may_be_put || number.first == number.number;
  const auto first = is_unknown ? 0 : number.first != 0 ? number.first : number.number;
  const auto is_next = [&which](const auto& each) {
    return each.second.shard == which.shard && each.second.number.number == which.number.number + 1;
  };
  const auto next = std::ranges::find_if(messages_, is_next);
  if (next == messages_.end())
    numbering_.skip(which.shard, number.number, first);
  else
    next->second.number.first = is_unknown ? next->second.number.number : first;
}

/// The messages of a call are next to each other.
void queue_puts::fail_queue(std::uint32_t shard, const error_code& why) {
  std::vector<progress_ptr> calls;
  for (const auto& [place, each] : messages_) {
    if (calls.empty() || calls.back() != each.of) calls.push_back(each.of);
  }
  for (const auto& each : waiting_) {
    if (calls.empty() || calls.back() != each) calls.push_back(each);
  }
  const auto is_for_it = [this, shard](const topic_message& what) { return shard_of(what.key, shards_) == shard; };
  for (const auto& each : calls) {
    const auto& all = each->messages();
    const auto first = std::ranges::find_if(all, is_for_it);
    if (first != all.end()) fail(each, static_cast<std::size_t>(first - all.begin()), why);
  }
}

void queue_puts::fail_all(const error_code& why) {
  numbering_.fail();
  publisher_.clear();
  const auto sent = std::exchange(messages_, {});
  const auto waiting = std::exchange(waiting_, {});
  progress_ptr last;
  const auto fail_put = [this, &last, &why](const progress_ptr& which) {
    if (which == last) return;
    last = which;
    results_.push_back(which->result(why));
  };
  for (const auto& [place, each] : sent) fail_put(each.of);
  for (const auto& each : waiting) fail_put(each);
}

}  // namespace zkrecipes::detail
