// The nodes of a queue in ZooKeeper, and the meaning of its items' names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/entry.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

enum class queue_kind { fifo, priority, delayed };

/// The paths of a queue: `items` is the folder of the items, `side` that of all other nodes (the same folder unless
/// `is_apart`).
struct queue_layout {
  queue_layout(queue_kind what, std::string path);

  /// The item that has this name; nothing if it is not the name of an item.
  std::optional<entry> parse(std::string_view name) const;
  /// The items among the children, in order.
  std::vector<entry> items_of(const std::vector<std::string>& children) const;
  /// Whether a child is a node of this recipe other than an item.
  bool is_known(std::string_view name) const;
  /// Whether another recipe uses this folder: some children bear the names of another recipe, and none belongs to a
  /// queue of this kind.
  bool is_strange(const std::vector<std::string>& children) const;
  /// The name of an item of this rank, before the server appends the number.
  std::string marker(std::int64_t rank) const;

  std::string item(std::string_view name) const { return join(items, name); }
  std::string claim(std::string_view name) const;
  std::string on_side(std::string_view name) const { return join(side, name); }
  bool is_apart() const noexcept { return side != items; }

  queue_kind kind;
  std::string items;
  std::string side;
};

inline constexpr std::string_view claim_prefix = "_claim-";
inline constexpr std::string_view idle_folder = "_idle";      ///< The line of takers that wait.
inline constexpr std::string_view dead_folder = "_dead";      ///< The dead letters.
inline constexpr std::string_view parked_folder = "_parked";  ///< The marks of keys whose messages are parked.
inline constexpr std::string_view gate_name = "_gate";        ///< The tickets for puts to a queue with a limit.
inline constexpr std::string_view clock_name = "_clock";      ///< Written to learn the leader's time.
inline constexpr std::string_view marks_name = "_repeats";    ///< The highest numbers of the producers.
inline constexpr std::string_view return_prefix = "_end-";    ///< Draws the number of an item that moves to the end.
inline constexpr std::string_view producer_prefix = "_producer-";

}  // namespace zkrecipes::detail
