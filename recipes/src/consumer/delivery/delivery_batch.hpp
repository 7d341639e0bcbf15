// The messages that one commit settles, and its transaction.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include <zkrecipes/transaction.hpp>

#include "delivery/message_in_hand.hpp"
#include "delivery/message_source.hpp"

namespace zkrecipes::detail {

/// If effects of several messages set one path unconditionally, and nothing else in the batch touches it, only the last
/// of these sets is sent (it is *merged*): the same data stands there in the end.
class delivery_batch {
 public:
  struct member {
    message_in_hand* whose = nullptr;
    settlement how;
    std::size_t first = 0;  ///< The place of its first operation.
  };

  explicit delivery_batch(bool merges) : merges_(merges) {}

  /// Adds a message with its effects. The operations of the source come first: their refusal tells that the message has
  /// gone.
  void add(member one, transaction settling, transaction effects);
  /// The whole transaction; `more` belongs to no single message. Once.
  transaction seal(transaction more);

  const std::vector<member>& members() const noexcept { return members_; }
  bool empty() const noexcept { return members_.empty(); }
  /// About how many bytes these operations would add to the request.
  std::size_t more_bytes(const transaction& settling, const transaction& effects) const;
  std::size_t bytes() const noexcept { return bytes_; }

  /// The place of an operation of the transaction among all that were added, those that were merged included.
  std::size_t place_of(std::size_t operation) const { return places_.at(operation); }
  /// The member that the operation at this place belongs to; null if it belongs to no single message.
  const member* owner_of(std::size_t place) const;
  /// Where the operations of no single message begin.
  std::size_t end_of_members() const noexcept { return count_; }
  /// Whether sets of several messages were merged.
  bool is_merged() const noexcept { return is_merged_; }

 private:
  struct touch {
    std::size_t last = 0;
    bool is_plain = true;  // all of them are unconditional sets by effects
  };

  void append(operation one, bool is_effect);
  bool is_dropped(std::size_t place) const;

  bool merges_;
  bool is_merged_ = false;
  std::vector<member> members_;
  std::vector<operation> operations_;               // until `seal`
  std::size_t count_ = 0;                           // so many were added
  std::unordered_map<std::string, touch> touches_;  // by path
  std::vector<std::size_t> places_;
  std::size_t bytes_ = 0;
};

}  // namespace zkrecipes::detail
