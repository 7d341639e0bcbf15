// What the broker says to a producer, and what its callers are told.
#include <algorithm>
#include <utility>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/rabbit_producer_state.hpp"

namespace zkrecipes::detail {

void rabbit_producer_state::note_confirm(const amqp_confirm& what) {
  for (const auto place : publisher_.confirm(what)) note_put(place);
  const bool is_past_rejections = messages_.empty() || messages_.begin()->first > rejected_until_;
  if (what.is_taken && is_past_rejections) broker_.note_good();
  changed_.notify();
}

/// The number of the message stays unused.
void rabbit_producer_state::note_return(std::uint64_t tag) {
  changed_.notify();
  const auto place = publisher_.take_back(tag);
  if (!place) return;
  const auto which = messages_.at(*place);
  const bool is_news = gone_.insert(which.shard).second;
  if (is_news)
    broker_.tell(log_severity::error, session_event::operation_failed, rabbit_errc::missing_queue,
                 "the queue " + frame_->queue(which.shard) + " was there, and is not any more");
  fail(which.of, which.index, rabbit_errc::missing_queue);
}

/// An error ends all puts. Without one, what is not confirmed is sent again on the next connection.
error_code rabbit_producer_state::record_end() {
  if (greeted_ == 0 || broker_.is_up()) return {};
  if (std::exchange(must_declare_again_, false)) broker_.close();
  const auto why = broker_.why();
  const bool is_refused = why && !may_recover_rabbit(why);
  const auto error = is_refused ? judge_refusal(why) : error_code();
  forget_connection();
  return error;
}

/// The broker has closed the connection because of something that it was sent. If that can be one of several messages,
/// for example one that is larger than it accepts, they are sent one by one to find out which.
error_code rabbit_producer_state::judge_refusal(const error_code& why) {
  if (!declaring_ && publisher_.under_way() == 0) return {};  // the next connection tells whether it persists
  const auto words = broker_.words();
  const bool is_of_queue = declaring_ && (declare_error_ == why || publisher_.under_way() == 0);
  const bool is_of_message = why == rabbit_errc::refused && publisher_.under_way() > 0;
  if (!is_of_queue && is_of_message && (declaring_ || publisher_.under_way() > 1)) {
    if (!messages_.empty()) single_until_ = messages_.rbegin()->first;
    return {};
  }
  broker_.tell(log_severity::error, session_event::operation_failed, why, words);
  if (why == rabbit_errc::refused_credentials || (!is_of_queue && !is_of_message)) return why;
  if (is_of_queue)
    fail_queue(*declaring_, why);
  else
    fail_lone(why);
  return {};
}

void rabbit_producer_state::forget_connection() {
  publisher_.begin_anew();
  declaring_.reset();
  declare_error_.clear();
  greeted_ = 0;
}

void rabbit_producer_state::note_put(std::uint64_t place) {
  const auto found = messages_.find(place);
  const auto which = std::move(found->second);
  messages_.erase(found);
  if (!gone_.empty()) gone_.erase(which.shard);
  which.of->note_put(which.index);
  if (which.of->is_complete()) results_.push_back(which.of->result());
}

/// A message can not be put. Those behind it in the same call are not sent, or not sent again.
void rabbit_producer_state::fail(progress_ptr which, std::size_t index, const error_code& why) {
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
void rabbit_producer_state::skip(const sent_message& which, bool may_be_put) {
  const auto& number = which.number;
  const bool is_unknown = may_be_put || number.first == number.number;
  const auto first = is_unknown ? 0 : number.first != 0 ? number.first : number.number;
  const auto is_next = [&which](const auto& each) {
    return each.second.shard == which.shard && each.second.number.number == which.number.number + 1;
  };
  const auto next = std::ranges::find_if(messages_, is_next);
  if (next == messages_.end())
    numbering_->skip(which.shard, number.number, first);
  else
    next->second.number.first = is_unknown ? next->second.number.number : first;
}

/// The only message that was under way.
void rabbit_producer_state::fail_lone(const error_code& why) {
  const auto place = publisher_.lone();
  if (!place) return;
  const auto which = messages_.at(*place);
  fail(which.of, which.index, why);
}

/// All messages for this queue. The messages of a call are next to each other.
void rabbit_producer_state::fail_queue(std::uint32_t shard, const error_code& why) {
  std::vector<progress_ptr> calls;
  for (const auto& [place, each] : messages_) {
    if (calls.empty() || calls.back() != each.of) calls.push_back(each.of);
  }
  for (const auto& each : waiting_) {
    if (calls.empty() || calls.back() != each) calls.push_back(each);
  }
  const auto is_for_it = [this, shard](const topic_message& what) {
    return shard_of(what.key, frame_->options.shards) == shard;
  };
  for (const auto& each : calls) {
    const auto& all = each->messages();
    const auto first = std::ranges::find_if(all, is_for_it);
    if (first != all.end()) fail(each, static_cast<std::size_t>(first - all.begin()), why);
  }
}

void rabbit_producer_state::fail_all(const error_code& why) {
  numbering_->fail();
  publisher_.clear();
  const auto sent = std::exchange(messages_, {});
  const auto waiting = std::exchange(waiting_, {});
  progress_ptr last;
  const auto tell = [this, &last, &why](const progress_ptr& which) {
    if (which == last) return;
    last = which;
    results_.push_back(which->result(why));
  };
  for (const auto& [place, each] : sent) tell(each.of);
  for (const auto& each : waiting) tell(each);
}

}  // namespace zkrecipes::detail
