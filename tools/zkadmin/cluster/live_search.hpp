// Finds recipes, and keeps what it has found up to date by watches.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include "base/tasks.hpp"
#include "cluster/tree_search.hpp"

namespace zkadmin {

/// Searches the tree once, and then only where the children of a node have changed, which watches tell. Nodes of
/// recipes, nodes with items or members of lines, and nodes with more than 1 000 children are not watched, because
/// their lists change often or are long. For them, and for nodes that become recipes without a change of the children,
/// the whole tree is searched again from time to time: so seldom that it is less than a request a second on average.
///
/// Made by `make`. One operation at a time.
class live_search : public std::enable_shared_from_this<live_search> {
 public:
  /// `on_change`: called when `is_due` becomes true because something has changed.
  static std::shared_ptr<live_search> make(zkrecipes::session session, std::string root,
                                           std::function<void()> on_change);

  /// Whether `renew` has something to do.
  bool is_due() const;
  /// The next `renew` searches the whole tree.
  void want_all() noexcept { wants_all_ = true; }
  /// The connection is lost, and with it the watches: the next `renew` searches the whole tree, a bounded number of
  /// nodes at a time.
  void forget_watches();

  /// Searches what is due. Nothing is visited after the deadline. Throws `failure`.
  boost::asio::awaitable<void> renew(deadline limit);

  /// What the last `renew` has found, sorted; also while another one runs.
  std::vector<std::string> found(recipe which) const;
  void forget(recipe which, const std::string& path);
  /// What was left out.
  std::vector<survey_note> notes() const;
  bool is_complete() const noexcept { return notes_.empty(); }
  bool is_refused() const noexcept;
  /// Counts the searches.
  std::uint64_t revision() const noexcept { return revision_; }

 private:
  live_search(zkrecipes::session session, std::string root, std::function<void()> on_change);
  boost::asio::awaitable<void> search_all(deadline limit);
  boost::asio::awaitable<void> search_changed(deadline limit);
  boost::asio::awaitable<void> search_below(std::string folder, deadline limit);
  void keep(const visited_node& node);
  void watch(const std::string& path, std::int64_t seen);
  boost::asio::awaitable<void> await_change(std::string path, std::int64_t seen);
  void forget_below(const std::string& path);
  void forget_missing(const visited_node& node);
  void keep_notes(const tree_search& search);
  void retry_refusals();

  zkrecipes::session session_;
  const std::string root_;
  std::function<void()> on_change_;
  std::set<std::string> visited_;
  std::map<std::string, recipe_place> told_;  ///< By the path of the node that tells of it.
  recipe_paths found_;                        ///< What they told at the end of the last `renew`.
  std::map<std::string, background_task> watches_;
  std::set<std::string> changed_;
  std::map<std::string, survey_note> notes_;  ///< What was left out, by path.
  bool wants_all_ = false;
  std::uint64_t revision_ = 0;
  std::chrono::steady_clock::time_point all_due_{};
  std::chrono::steady_clock::time_point refusals_due_{};
};

}  // namespace zkadmin
