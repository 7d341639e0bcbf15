// Messages that wait to be put.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <zkrecipes/consumer/topic_types.hpp>

#include "topic/packed_batch.hpp"
#include "topic/put_reach.hpp"
#include "topic/topic_caller.hpp"

namespace zkrecipes::detail {

/// The messages of one call. On the strand, once it was taken from the inbox.
struct topic_put {
  std::vector<topic_message> messages;
  bool is_many;  ///< The caller is told how many were put, not the number of the message.
  topic_caller caller;
  lease_clock::time_point due{};  ///< Until then they wait for others, if they are the first of a transaction.
  std::size_t composed = 0;       ///< So many are in the topic or in transactions under way.
  std::size_t put = 0;            ///< So many are in the topic.
  error_code error{};             ///< Those behind them can not be put.
  std::shared_ptr<put_reach> reach{};

  /// Bytes of some of the messages in a batch.
  std::size_t bytes(std::size_t from, std::size_t to) const {
    std::size_t sum = 0;
    for (; from < to; ++from) sum += packed_batch::size_of(messages[from].key, messages[from].data);
    return sum;
  }
  bool is_over() const noexcept { return put == (error ? composed : messages.size()); }
};

}  // namespace zkrecipes::detail
