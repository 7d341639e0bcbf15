#pragma once

#include <cstdint>

namespace zkrecipes::detail {

/// The broker says what has become of messages that were put.
struct amqp_confirm {
  std::uint64_t tag = 0;     ///< The number that `rabbit_link::publish` returned.
  bool is_multiple = false;  ///< It is about all up to this tag that are not confirmed yet.
  bool is_taken = true;      ///< False: the broker could not take them (`basic.nack`).
};

}  // namespace zkrecipes::detail
