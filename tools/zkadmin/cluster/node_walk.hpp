// Reads one node that has to exist.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/level_walk.hpp"
#include "cluster/nodes.hpp"
#include "cluster/tree_search.hpp"

namespace zkadmin {

struct node_reading {
  node_view view{};
  std::string data{};
};

/// With its data. Throws `failure` (not_found, auth, ...).
boost::asio::awaitable<node_reading> read_node(zkrecipes::session session, std::string path);

/// Also one whose data may not be read; its recipe is not known then. Throws `failure`.
boost::asio::awaitable<node_view> read_stat(zkrecipes::session session, std::string path);

/// Why the node belongs to a recipe, so that it is not for hands: its data, its name, or that of one above it. Empty:
/// nothing says so. Reads the node and all above it. Throws `failure`; also if one may not be read, because then it is
/// not known.
boost::asio::awaitable<std::string> recipe_that_keeps(zkrecipes::session session, std::string path);

/// As far as the data and the name of the node itself tell.
std::string recipe_that_keeps(const std::string& path, const std::string& mark);

// Reads a part of the tree, node by node.

struct walk_limits {
  std::size_t depth = static_cast<std::size_t>(-1);  ///< Levels below the node.
  std::size_t nodes = 10'000;
  deadline until = deadline::max();
};

/// One `level_walk`. What has been read can be taken at any time, also while the walk still waits for an answer.
class node_walk {
 public:
  node_walk(zkrecipes::session session, std::string top, walk_limits limits);

  /// Throws `failure`, also if the node that was asked for does not exist.
  boost::asio::awaitable<void> run();

  /// The nodes so far. Not complete before the end of the walk.
  node_listing listing() const;

 private:
  using place = level_walk::place;
  boost::asio::awaitable<void> visit(const place& at, std::size_t level);
  boost::asio::awaitable<void> visit_alone(const place& at, bool is_closed);
  boost::asio::awaitable<std::string> recipe_at(const std::string& path, const zkrecipes::node_children& listed);
  void plan(const place& at, std::vector<std::string> names, std::size_t level);

  zkrecipes::session session_;
  std::string top_;
  walk_limits limits_;
  level_walk walk_;
  bool is_late_ = false;
  bool has_ended_ = false;
  std::vector<node_view> seen_;
  std::vector<std::string> closed_;
};

/// The children of a node, at most 10 000 of them, by their names alone: one request. Throws `failure`.
boost::asio::awaitable<node_listing> list_names(zkrecipes::session session, std::string path);

/// As `check`, for an operation on one node that has to exist: else throws `failure` (not_found).
void check_node(const zkrecipes::error_code& error, const std::string& path);

}  // namespace zkadmin
