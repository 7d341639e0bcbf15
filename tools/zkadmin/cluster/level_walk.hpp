// What a walk through the tree has still to visit, level by level.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

namespace zkadmin {

/// One walk, breadth first: if it has to be cut off, the deepest nodes are missing. If a node has more than 250
/// children, 250 are visited with their level, and 250 more with each level below, so that a backlog takes only its
/// share of the walk. It plans half a million nodes at most, however many children the nodes have.
class level_walk {
 public:
  static constexpr std::size_t share = 250;  ///< Children of one node that are visited with one level.
  static constexpr std::size_t most_planned = 500'000;

  struct place {
    std::string path;
    std::size_t depth = 0;  ///< Below the first one; `level` is when it is visited.
  };
  using visitor = std::function<boost::asio::awaitable<void>(const place& at, std::size_t level)>;

  /// Visits `most` nodes at most, `top` first.
  level_walk(const std::string& top, std::size_t most);

  /// Plans these children, from this level on.
  void plan(const place& parent, const std::vector<std::string>& names, std::size_t first);
  /// Visits what is planned and, down to this level, what is planned meanwhile. Once more for what is planned later.
  boost::asio::awaitable<void> run(visitor visit, std::size_t last = static_cast<std::size_t>(-1));

  /// A child of this node is not visited, or so many are not.
  void leave(const std::string& parent, std::size_t count = 1) { left_[parent] += count; }
  /// How many children of a node were not visited.
  const std::map<std::string, std::size_t>& left() const noexcept { return left_; }
  /// How many more nodes may be visited.
  std::size_t room() const noexcept { return most_ - visited_; }

 private:
  std::size_t most_;
  std::vector<std::vector<place>> levels_;
  std::size_t planned_ = 0;
  std::size_t visited_ = 0;
  std::map<std::string, std::size_t> left_;
};

}  // namespace zkadmin
