// Reads what producers have put into a queue.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "rabbit/rabbit_client.hpp"

namespace zkrecipes::test {

/// A consumer of the bare kind: it takes the messages out of the queue, for good. The queue must have no other consumer
/// at the time, because a single one gets messages.
class rabbit_reader {
 public:
  /// `client`: puts a mark behind what is there, so that nothing needs to be waited for that may not come.
  rabbit_reader(rabbit_client& client, const std::string& host, const std::string& password, std::string queue)
      : client_(client), queue_(std::move(queue)), channel_(host, password) {
    channel_.consume(queue_, true, 0);
  }

  /// All messages that were ever in the queue, each id once, as a consumer of the library takes them.
  const std::vector<rabbit_delivery>& read() {
    const auto mark = "mark " + std::to_string(++marks_);
    client_.put({.queue = queue_, .data = mark});
    for (auto next = channel_.next(); !next.id.empty() || next.data != mark; next = channel_.next()) {
      const bool is_repeat = !next.id.empty() && !ids_.insert(next.id).second;
      if (is_repeat) ++repeats_;
      if (!is_repeat) all_.push_back(std::move(next));
    }
    return all_;
  }
  std::vector<std::string> read_data() {
    std::vector<std::string> data;
    for (const auto& each : read()) data.push_back(each.data);
    return data;
  }
  /// Messages whose id was read before.
  std::size_t repeats() const { return repeats_; }

 private:
  rabbit_client& client_;
  std::string queue_;
  rabbit_channel channel_;
  int marks_ = 0;
  std::size_t repeats_ = 0;
  std::set<std::string> ids_;
  std::vector<rabbit_delivery> all_;
};

}  // namespace zkrecipes::test
