// Looking through the tree for elections.
#pragma once

#include "cluster/status.hpp"

#include <zkrecipes/session.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace zkadmin {

using deadline = std::chrono::steady_clock::time_point;

/// One walk, breadth first, so that what is deep in the tree is missing where it has to be cut off. Of a node
/// with very many children only some are visited with their level, the rest with the levels below: a backlog
/// takes its share of the walk and no more. What can be no election by its name is passed over.
class tree_search {
 public:
  tree_search(zkrecipes::session session, std::string root);

  /// Visits at most 10 000 nodes, none after the deadline. Throws `failure`.
  boost::asio::awaitable<void> run(deadline limit);

  /// Paths of elections, sorted.
  const std::vector<std::string>& found() const noexcept { return elections_; }
  /// Whether nothing was left out.
  bool is_complete() const noexcept { return refused_.empty() && left_.empty(); }
  bool is_refused() const noexcept { return !refused_.empty(); }
  /// What was left out, and why.
  std::vector<survey_note> notes() const;

 private:
  using level = std::vector<std::string>;
  boost::asio::awaitable<void> visit_all(std::size_t depth);
  boost::asio::awaitable<void> visit(const std::string& path, std::size_t depth);
  boost::asio::awaitable<bool> is_election(const std::string& path, const zkrecipes::node_children& listed);
  void plan(const std::string& path, std::vector<std::string> names, std::size_t depth);
  void leave(const std::string& path);

  zkrecipes::session session_;
  std::string root_;
  deadline limit_;
  std::vector<level> levels_;  ///< What is to be visited.
  std::size_t visited_ = 0;
  bool is_late_ = false;
  std::vector<std::string> elections_;
  std::vector<std::string> refused_;
  std::map<std::string, std::size_t> left_;  ///< How many children of a node were not visited.
};

}  // namespace zkadmin
