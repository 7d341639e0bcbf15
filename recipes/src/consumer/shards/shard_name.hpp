// The names of shards in paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/container/flat_set.hpp>

namespace zkrecipes::detail {

/// A set of shards, as the orders and the map of a group state it.
/// Its text has ranges in ascending order: 0-3,9. The text of the empty set is empty.
class shard_set {
 public:
  using numbers = boost::container::flat_set<std::uint32_t>;  // a planner copies those of all members again and again
  using const_iterator = numbers::const_iterator;

  /// Nothing if the text is not a set of shards: ranges that are not in ascending order or overlap, a number of more
  /// than four digits, or any other character.
  static std::optional<shard_set> parse(std::string_view text);
  std::string to_text() const;

  /// The shard is below `most_shards`.
  void insert(std::uint32_t shard) { all_.insert(all_.end(), shard); }
  void erase(std::uint32_t shard) { all_.erase(shard); }
  bool contains(std::uint32_t shard) const { return all_.contains(shard); }
  std::size_t size() const noexcept { return all_.size(); }
  bool empty() const noexcept { return all_.empty(); }
  /// In ascending order.
  const_iterator begin() const noexcept { return all_.begin(); }
  const_iterator end() const noexcept { return all_.end(); }

  friend bool operator==(const shard_set&, const shard_set&) = default;

 private:
  numbers all_;
};

inline constexpr std::uint32_t most_shards = 10'000;

/// Four digits.
std::string shard_name(std::uint32_t number);
/// Nothing if it is not the name of a shard.
std::optional<std::uint32_t> parse_shard_name(std::string_view name);

}  // namespace zkrecipes::detail
