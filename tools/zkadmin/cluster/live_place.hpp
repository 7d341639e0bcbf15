// The recipes at and below one path, kept up to date by watches.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include "base/tasks.hpp"
#include "cluster/live_readings.hpp"
#include "cluster/live_views.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/tree_search.hpp"
#include "settings/recipe_kind.hpp"

namespace zkadmin {

// Finds recipes, and keeps what it has found up to date by watches.

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
  /// The last search has not found the root.
  bool is_root_gone() const noexcept { return is_root_gone_; }
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
  void hasten();
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
  bool is_root_gone_ = false;
  bool was_late_ = false;  ///< The last search of the whole tree, or one of a part since.
  std::uint64_t revision_ = 0;
  std::chrono::steady_clock::time_point all_due_{};
  std::chrono::steady_clock::time_point refusals_due_{};
};

/// What to follow.
struct followed_place {
  std::string root = "/";
  std::vector<std::string> queues{};
  std::vector<declared_recipe> recipes{};
  std::chrono::nanoseconds interval =
      std::chrono::seconds(1);                 ///< Least time from one reading of a recipe to the next.
  std::chrono::nanoseconds proof_interval{0};  ///< How old the proof may be.
};

/// The kinds that are on the screen.
struct shown_kinds {
  bool topics = true;
  bool commits = true;
  bool others = true;
};

/// Costs few requests while nothing changes: one to prove that what is shown is current, and a search of the whole tree
/// from time to time. That one request asks for all that the leader has; its answer comes behind the notifications of
/// everything that had changed before, so what has not been notified has not changed. After a lost connection
/// everything is read again, a bounded number of requests at a time.
class live_place {
 public:
  /// `callbacks.on_change` is also called when a search is due because something has changed.
  live_place(zkrecipes::session session, followed_place what, live_elections::hooks callbacks);
  live_place(const live_place&) = delete;
  live_place& operator=(const live_place&) = delete;

  /// Whether something has changed that a search would find.
  bool is_search_due() const { return search_->is_due(); }
  /// The next search looks at everything, and what watches do not tell is read again.
  void want_all();
  /// Recipes that are not on the screen are read less often.
  void show(const shown_kinds& shown);

  /// Finds new recipes, and follows them. Throws `failure`.
  boost::asio::awaitable<void> search(deadline limit);
  std::vector<std::string> found(recipe which) const { return search_->found(which); }

  /// Completes when what is known is current. Throws `failure`.
  boost::asio::awaitable<void> prove(deadline limit);
  /// Whether the elections have changed since they were told. Asks no server.
  bool has_new_elections() const;
  /// The proven state. Throw `failure`.
  boost::asio::awaitable<election_survey> elections(deadline limit);
  boost::asio::awaitable<group_survey> groups(deadline limit);
  /// All kinds, once they have been read. Does not touch the servers there. What can not be read is missing, and
  /// `trouble` says why.
  boost::asio::awaitable<void> read(findings& into, const wanted_kinds& kinds, deadline limit);

  /// As far as it is known. Ask no server.
  election_survey known_elections();
  group_survey known_groups() const;

  /// The groups, as far as they are known. Nothing: the first readings are still going on, for 5 s at most. Later a
  /// group that is read again keeps its last state meanwhile, with a note. Asks no server.
  std::optional<group_survey> new_groups();
  /// The surveys of the other kinds. Nothing: the same as the last time, ages of less than a second apart; or the first
  /// readings are still going on. Ask no server.
  std::optional<topic_survey> new_topics();
  std::optional<commit_survey> new_commits();
  std::optional<queue_survey> new_queues();
  std::optional<recipe_survey> new_others();

 private:
  /// What a survey was told of.
  struct told {
    std::uint64_t revision = 0;  ///< The search's.
    std::chrono::steady_clock::time_point when{};
  };

  template <class Status>
  std::optional<survey<Status>> renewed(live_readings<Status>& all, told& last);
  template <class Status>
  survey<Status> survey_of(live_readings<Status>& all) const;
  bool is_everything_read() const;
  void follow_found();
  void forget_watches();
  void read_again();
  election_survey outline() const;

  zkrecipes::session session_;
  const followed_place what_;
  std::shared_ptr<live_search> search_;
  std::shared_ptr<live_elections> elections_;
  std::shared_ptr<live_groups> groups_;
  std::shared_ptr<live_readings<topic_status>> topics_;
  std::shared_ptr<live_readings<commit_status>> commits_;
  std::shared_ptr<live_readings<queue_status>> queues_;
  std::shared_ptr<live_readings<recipe_status>> others_;
  told elections_told_, topics_told_, commits_told_, queues_told_, others_told_;
  std::chrono::steady_clock::time_point proof_due_{};
  bool has_told_groups_ = false;
  std::optional<std::chrono::steady_clock::time_point> first_groups_due_{};
  std::shared_ptr<std::function<void(bool)>> on_connection_;  ///< Its end tells the task that this object is gone.
  background_task connection_;
};

}  // namespace zkadmin
