// The messages that one commit settles, and its transaction.
#pragma once

#include <cstddef>
#include <vector>

#include <zkrecipes/transaction.hpp>

#include "delivery/message_in_hand.hpp"
#include "delivery/message_source.hpp"

namespace zkrecipes::detail {

class delivery_batch {
 public:
  struct member {
    message_in_hand* whose = nullptr;
    settlement how;
    std::size_t first = 0;  ///< Its first operation.
  };

  /// Adds a message with its effects. The operations of the source come first: their refusal tells that the message has
  /// gone.
  void add(member one, transaction settling, const transaction& effects);

  const std::vector<member>& members() const noexcept { return members_; }
  const transaction& operations() const noexcept { return operations_; }
  void append(transaction more) { operations_.append(std::move(more)); }
  bool empty() const noexcept { return members_.empty(); }
  std::size_t bytes() const noexcept { return bytes_; }
  /// The member that an operation belongs to; null if it belongs to no single message.
  const member* owner_of(std::size_t operation) const;

 private:
  std::vector<member> members_;
  transaction operations_;
  std::size_t own_operations_ = 0;
  std::size_t bytes_ = 0;
};

/// About how many bytes the operations take in a request.
std::size_t bytes_of(const transaction& operations);

}  // namespace zkrecipes::detail
