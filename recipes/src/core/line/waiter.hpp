// Waiting in the one herd-free line that most recipes are made of.
//
// The members are ephemeral sequential nodes under one parent, in order of arrival. A member that must wait watches
// only the nearest member that has to go first, so one is woken per departure. (The lock recipe of ZooKeeper's
// documentation.)
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "line/line_spec.hpp"
#include "line/node_name.hpp"
#include "line/own_node.hpp"
#include "line/roster.hpp"
#include "session/core.hpp"
#include "session/forwarding.hpp"

namespace zkrecipes::detail {

/// What a session knows of a line by those of its members whose turn has come.
/// The list by which a member was let in last. Nobody can come before a member that is listed, so a later one of the
/// same session may find by it that its own turn has come, and need not list the line. Owned by those who wait. On the
/// strand.
class line_news {
 public:
  /// Those of the session who wait in this line share it.
  static std::shared_ptr<line_news> of(const core_ptr& session, const line_spec& line);

  line_news(core_ptr session, const line_spec& line) : session_(std::move(session)), line_(line) {}
  line_news(const line_news&) = delete;
  line_news& operator=(const line_news&) = delete;
  ~line_news() {
    auto& commons = session_->commons();  // another one may have taken the place
    if (commons.at<line_news>(line_.parent).expired()) commons.end<line_news>(line_.parent);
  }

  member_list members;    ///< Null before.
  std::size_t first = 0;  ///< Those in front of this one have left since it was read.

 private:
  core_ptr session_;
  line_spec line_;
};

using line_news_ptr = std::shared_ptr<line_news>;

/// A member of a line until its turn has come: our own node, and the line as we know it. Afterwards only the node is
/// needed, which does not know the waiter. Used and destroyed on the strand.
class waiter {
 public:
  /// Gets in line: one round trip if the parent exists. If it is cancelled, or fails in a way that leaves open whether
  /// our node was created, the node is removed in the background. Error: `foreign_data` if somebody stands there
  /// already who is of another recipe (where the first list is lost `wait_turn` and `try_turn` say so).
  static awaitable<outcome<std::shared_ptr<waiter>>> enter(core_ptr session, line_spec line, std::string data);
  /// The same for one that has been made, by anybody in any thread.
  awaitable<error_code> get_in();

  /// Waits until nobody has to go first any more. `reconsider` is notified when `who_first` may answer in another way
  /// although nobody has left, and nothing has happened to our node. Errors: why our node was lost,
  /// `operation_aborted`, `no_auth`, ...
  awaitable<error_code> wait_turn(const blocker& who_first, condition* reconsider = nullptr);
  /// Lists the line unless that has been done.
  awaitable<error_code> know_line();
  /// Lists the line, also if that has been done. Errors: why our node was lost (`node_removed` if it is not listed),
  /// ...
  awaitable<error_code> list_again();
  /// Looks once. Error: `busy` if somebody has to go first.
  awaitable<error_code> try_turn(const blocker& who_first);
  /// Tells how many are ahead of us, now and whenever it is seen to change.
  void tell_position(std::function<void(std::size_t)> hook);

  const own_node_ptr& node() const noexcept { return node_; }
  const roster& line() const noexcept { return roster_; }
  /// The parent as it was when we got in line, if that was asked for and the list came with it.
  const std::shared_ptr<const backend::reply>& parent() const noexcept { return parent_; }
  /// `line().is_next()` has become true, something happened to our node, or a member ahead that we watch has changed.
  condition& changed() noexcept { return changed_; }

  waiter(core_ptr session, line_spec line, std::string data);

 private:
  using hints = std::vector<std::unique_ptr<watch>>;
  awaitable<error_code> list();
  void assign(member_list members);
  awaitable<error_code> look_ahead(stretch who, hints& watched, std::vector<std::string>& gone);
  std::vector<std::size_t> watch_ahead(stretch who, hints& watched);
  void note_departures(stretch who, const hints& watched, std::vector<std::string> gone, const blocker& who_first);
  void note_position();
  awaitable<error_code> take_turn();
  bool take_turn_by_news(const std::vector<std::string>& gone, const blocker& who_first);
  std::string path_of(std::size_t which) const;

  own_node_ptr node_;
  line_news_ptr news_;
  roster roster_;
  std::shared_ptr<const backend::reply> parent_;
  std::function<void(std::size_t)> on_position_;
  std::size_t told_ = static_cast<std::size_t>(-1);  // the last position told
  condition changed_;
  forwarding node_changes_;  // to `changed_`
};

using waiter_ptr = std::shared_ptr<waiter>;

}  // namespace zkrecipes::detail
