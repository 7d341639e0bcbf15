// Searches the tree for recipes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "cluster/level_walk.hpp"
#include "cluster/recognize.hpp"
#include "cluster/status.hpp"

namespace zkadmin {

using deadline = std::chrono::steady_clock::time_point;

/// The error of a search at a root that is missing.
failure missing_root(const std::string& root);

/// A node that was visited.
struct visited_node {
  std::string path;
  recipe which = recipe::none;  ///< What its data and the names of its children tell.
  recipe_place tells{};         ///< The recipe that the node tells of, at its own path or at another one.
  const zkrecipes::node_children& listed;
};

struct search_options {
  std::size_t most = 10'000;                              ///< Nodes to visit.
  std::size_t most_alike = 10'000;                        ///< Those of them beside samples that are nothing.
  std::function<bool(const std::string& path)> skips{};   ///< Nodes at and below which nothing is visited.
  std::function<void(const visited_node&)> on_visited{};  ///< Called once for each.
  bool is_known_root = false;                             ///< A root that is gone, or may not be read, is no error.
  std::size_t levels = std::numeric_limits<std::size_t>::max() - 1;  ///< How many levels below the root are searched.
};

/// One `level_walk`. Nodes that can be no recipes of their own by their names are skipped. Where more than 250
/// children are all numbers of one sequence, such as effects, 250 are visited. If one of these is anything the others
/// are visited, too; else behind everything else, as far as the walk goes, and what is left out of them is not counted.
class tree_search {
 public:
  tree_search(zkrecipes::session session, std::string root, search_options how = {});

  /// Visits no node after the deadline. Throws `failure`.
  boost::asio::awaitable<void> run(deadline limit);

  /// The paths of this recipe, sorted. A path of a `lock` or a `membership` may be one of something else with the same
  /// layout.
  const std::vector<std::string>& found(recipe which) { return found_[which]; }
  /// Whether nothing was left out.
  bool is_complete() const noexcept { return refused_.empty() && walk_.left().empty(); }
  bool is_refused() const noexcept { return !refused_.empty(); }
  /// Whether the deadline came first.
  bool is_late() const noexcept { return is_late_; }
  /// Whether the root does not exist.
  bool is_gone() const noexcept { return is_gone_; }
  /// The nodes that were left out, and why.
  std::vector<survey_note> notes() const;

 private:
  boost::asio::awaitable<void> visit_levels();
  boost::asio::awaitable<void> visit_alike();
  boost::asio::awaitable<void> visit(const std::string& path, std::size_t level);
  struct glimpse {
    recipe which = recipe::none;
    bool is_own_data = false;  ///< A recipe has written the node's data: it is no data of a user.
    bool is_instance = false;  ///< The data is an instance of a service.
  };
  boost::asio::awaitable<glimpse> recipe_at(const std::string& path, const zkrecipes::node_children& listed);
  recipe_place told_by(const std::string& path, const glimpse& seen, const zkrecipes::node_children& listed) const;
  void plan(const std::string& path, recipe which, std::vector<std::string> names, std::size_t level);
  void release(const std::string& path, std::size_t level);

  zkrecipes::session session_;
  std::string root_;
  search_options how_;
  deadline limit_;
  level_walk walk_;
  bool is_late_ = false;
  bool is_gone_ = false;
  std::map<std::string, recipe_place> told_;  ///< By the path of the node that tells of it.
  struct beside_sample {
    std::size_t level = 0;  ///< Below that of the sample.
    std::vector<std::string> names{};
    std::size_t more = 0;  ///< Names that are not kept.
  };
  std::map<std::string, beside_sample> alike_;  ///< Children that are not in a sample of them, by their parent.
  std::size_t alike_count_ = 0;                 ///< How many names were kept there.
  std::string alike_path_;                      ///< The parent of those that are visited, while they are nothing.
  deadline alike_limit_ = deadline::max();
  recipe_paths found_;
  std::vector<std::string> refused_;
};

}  // namespace zkadmin
