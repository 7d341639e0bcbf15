#pragma once

#include <cstdint>
#include <string>

namespace zkrecipes::detail {

inline constexpr auto first_header = "zkr-first";

/// A message as the broker delivers it.
struct amqp_delivery {
  std::uint64_t tag = 0;        ///< It counts on this connection.
  bool is_redelivered = false;  ///< The flag is set, or `returns` is more than 0.
  std::uint64_t returns = 0;    ///< How often it has come back: `x-delivery-count`.
  std::string id{};             ///< The property `message_id`; empty: none.
  std::string key{};            ///< The header `rabbit_options::key_header`, if it is a string.
  std::string data{};
  std::int64_t timestamp = 0;  ///< Milliseconds since 1970; 0: none.
  std::uint64_t first = 0;     ///< The header `first_header`, see `message_number::first`; 0: none.
};

}  // namespace zkrecipes::detail
