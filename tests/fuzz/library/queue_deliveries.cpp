// What RabbitMQ delivers, in any order and as often as it likes. The first byte of the input tells how many messages
// may be out at a time. Each byte behind it is one step; its lower three bits tell which.
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "external/delivery_memory.hpp"
#include "fuzz/target.hpp"
#include "rabbitmq/queue_progress.hpp"

namespace fuzz::queue_deliveries_target {

using namespace zkrecipes::detail;

constexpr std::size_t most_steps = 1'000;

/// A message that is here: its name, and whether it has an id.
struct here {
  std::string name;
  bool is_named = false;
};

/// Does with deliveries what a reader of a queue does. The memory is stored with each settlement.
class consumer {
 public:
  explicit consumer(std::size_t prefetch) : progress_(prefetch), stored_(serialize(delivery_memory())) { reopen(); }

  void act(unsigned step) {
    const auto which = step / 8;
    switch (step % 8) {
      case 0:
      case 1: return take(delivery(which));
      case 2: return hand_out();
      case 3: return settle(which);
      case 4: return fail(which);
      case 5: return acknowledge();
      case 6: return lose();
      default: return reopen();
    }
  }

 private:
  amqp_delivery delivery(unsigned which) {
    constexpr const char* ids[] = {"",          "foreign",   "zkr:p:1:1", "zkr:p:1:2",
                                   "zkr:p:1:5", "zkr:p:2:1", "zkr:q:1:5", "_1-1"};
    amqp_delivery made;
    made.tag = ++last_tag_;
    made.id = ids[which % 8];
    made.is_redelivered = which & 8u;
    made.first = which & 16u ? 3 : 0;
    return made;
  }
  bool is_ready(const std::string& name) const {
    return std::ranges::any_of(ready_, [&name](const here& each) { return each.name == name; });
  }
  bool is_here(const std::string& name) const { return is_ready(name) || in_hand_.contains(name); }

  void take(const amqp_delivery& what) {
    const bool was_here = is_here(what.id);
    const auto name = progress_.take(what);
    const bool is_settled = !name && !was_here;
    unacknowledged_.emplace(what.tag, is_settled ? std::string() : name.value_or(what.id));
    if (name) {
      require(!is_here(*name), "a message that is here is not handed out again");
      require(what.id.empty() || !progress_.memory().knows(*name), "a message that is settled does not come again");
      ready_.push_back({*name, !what.id.empty()});
    } else {
      require(was_here || progress_.memory().knows(what.id), "a message that is dropped is here, or is settled");
    }
    if (progress_.is_ambiguous() || progress_.is_far_behind()) reopen();
  }
  void hand_out() {
    if (ready_.empty()) return;
    const auto first = std::move(ready_.front());
    ready_.pop_front();
    progress_.hand_out(first.name, first.is_named);
    in_hand_.emplace(first.name, first.is_named);
  }

  void settle(unsigned which) {
    if (in_hand_.empty()) return;
    const auto [name, is_named] = *std::next(in_hand_.begin(), static_cast<long>(which % in_hand_.size()));
    auto next = progress_.memory();
    progress_.apply(next, name);
    require(next.knows(name) == is_named, "a message with an id that is settled is known");
    require(next.failed(name).count == 0, "a message that is settled has no failed attempts");
    store(next);
    progress_.settle(name);
    for (auto& [tag, each] : unacknowledged_)
      if (each == name) each.clear();
    in_hand_.erase(name);
  }
  void fail(unsigned which) {
    if (in_hand_.empty()) return;
    const auto name = std::next(in_hand_.begin(), static_cast<long>(which % in_hand_.size()))->first;
    auto next = progress_.memory();
    const auto before = next.failed(name).count;
    next.fail(name, 1'700);
    require(next.failed(name).count == before + 1, "an attempt is counted");
    store(next);
    progress_.fail(name, 1'700);
  }
  void store(const delivery_memory& memory) {
    stored_ = serialize(memory);
    const auto again = parse_delivery_memory(stored_);
    require(again && serialize(*again) == stored_, "a memory reads the same");
  }

  void acknowledge() {
    for (const auto& each : progress_.take_acknowledgements()) {
      const auto found = unacknowledged_.find(each.tag);
      require(found != unacknowledged_.end(), "a delivery is acknowledged once");
      const auto begin = each.is_multiple ? unacknowledged_.begin() : found;
      for (auto at = begin; at != std::next(found); ++at)
        require(at->second.empty(), "what is not settled is not acknowledged");
      unacknowledged_.erase(begin, std::next(found));
    }
  }
  /// Messages without an id can not be known again when they come by another connection.
  void lose() {
    progress_.lose();
    forget_connection();
    if (progress_.has_unnamed()) reopen();
  }
  /// Another process.
  void reopen() {
    auto read = parse_delivery_memory(stored_);
    require(read.has_value(), "a memory can be read");
    progress_.open(std::move(*read));
    forget_connection();
    in_hand_.clear();
  }
  void forget_connection() {
    ready_.clear();
    unacknowledged_.clear();
    last_tag_ = 0;
  }

  queue_progress progress_;
  std::string stored_;
  std::uint64_t last_tag_ = 0;
  std::deque<here> ready_;
  std::map<std::string, bool> in_hand_;                  // by name; whether it has an id
  std::map<std::uint64_t, std::string> unacknowledged_;  // by tag: the name while it is not settled
};

void deliver(std::string_view input) {
  consumer reader(1 + take_byte(input) % 8u);
  for (const auto each : input.substr(0, most_steps)) reader.act(static_cast<unsigned char>(each));
}

const target known("queue_deliveries", deliver);

}  // namespace fuzz::queue_deliveries_target
