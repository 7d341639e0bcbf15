// One transaction of a producer: messages packed into nodes, at least one for each shard that they belong to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/transaction.hpp>

#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

class topic_transaction {
 public:
  /// `overhead`: bytes of a node in the request besides its data.
  explicit topic_transaction(std::size_t overhead) : overhead_(overhead) {}

  /// How many bytes the message would add to the request.
  std::size_t more_bytes(std::uint32_t shard, std::string_view key, std::string_view data) const;
  void add(std::uint32_t shard, std::string_view key, std::string_view data);
  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return bytes_; }

  struct node {
    std::uint32_t shard = 0;
    packed_batch content{};
  };
  const std::vector<node>& nodes() const noexcept { return nodes_; }
  /// Adds the nodes, in order.
  void add_to(transaction& all, const source_layout& where) const;

 private:
  bool needs_node(std::uint32_t shard, std::size_t bytes) const;

  std::size_t overhead_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::vector<node> nodes_;
  std::map<std::uint32_t, std::size_t> last_of_;  // the place of the last node of a shard
};

}  // namespace zkrecipes::detail
