// The name of a message that has no id.
#pragma once

#include <cstdint>
#include <string>

#include "rabbitmq/amqp_delivery.hpp"

namespace zkrecipes::detail {

/// `_<hash>-<copy>`: made of the key and the data, so that the next process finds the attempts of a message that has
/// killed this one. Messages that are here at the same time differ by their `copy`.
class unnamed_message {
 public:
  explicit unnamed_message(const amqp_delivery& what) : hash_(hash_of(what)) {}

  std::string name(std::uint64_t copy) const;

 private:
  static std::uint64_t hash_of(const amqp_delivery& what);

  std::uint64_t hash_;
};

}  // namespace zkrecipes::detail
