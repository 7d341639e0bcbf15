// Waiting in the one herd-free line that most recipes are made of: enter, look who is ahead, wait for the turn, own.
//
// The members are ephemeral sequential nodes under one parent, in order of arrival. A member that must wait watches
// only the nearest member that has to go first, so one is woken per departure. (The lock recipe of ZooKeeper's
// documentation.)
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/ownership.hpp>

#include "line/line_spec.hpp"
#include "line/own_node.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

// The members of a line, seen from outside: listing them, asking the first to give it up, letting others pass.

/// The members of a line, in order. A parent that is missing has none.
awaitable<outcome<std::vector<member>>> list_members(core_ptr session, line_spec line);

/// Makes the member's node say that it lets others pass (`with_shared`), whatever else it says meanwhile.
/// `data`: what it says now, if it is known.
awaitable<outcome<>> let_pass(core_ptr session, std::string node, std::optional<std::string> data,
                              incarnation_ptr bound = nullptr);

/// All members, in order; whoever `who_first` lets go holds. A parent that is missing has none.
awaitable<outcome<std::vector<line_member>>> read_line(core_ptr session, line_spec line, blocker who_first);

/// Asks the first in line. Errors: `no_node` (there is none), `bad_version`, `no_auth`, `bad_arguments` (a negative
/// grace).
awaitable<outcome<>> request_revocation(core_ptr session, line_spec line, std::chrono::milliseconds grace);

/// A line as one of its members knows it: the members that were last listed, less those that are known to have left
/// since. It does no I/O. Members of one session share the list for as long as none of them knows of a change.
class roster {
 public:
  /// Our own node: its name and its number.
  struct own {
    std::string_view name;
    std::int32_t sequence;
  };

  /// Takes over a list. A member that has `ghost`, if that is not empty, in its name and is not `self` is left out: it
  /// is a second node of ours, which a create has made whose reply was lost, and it must not block us. The roster is
  /// current afterwards, unless we are not in the list.
  void assign(member_list listed, const own& self, std::string_view ghost);

  /// False before the first list, and once so much has changed that the line has to be listed again.
  bool is_current() const noexcept { return current_; }

  /// The members, ourselves included. After `forget_all_but` they are only two.
  std::span<const member> members() const noexcept;
  /// The list itself, and how many of those in front have left since. Shared, unless somebody else has left, too.
  const member_list& list() const noexcept { return members_; }
  std::size_t departed_in_front() const noexcept { return first_; }
  /// Our index among `members`.
  std::size_t self() const noexcept { return self_; }
  /// How many members are ahead of us.
  std::size_t position() const noexcept { return forgotten_ + self_; }
  /// Exactly one member is ahead of us, as far as we know.
  bool is_next() const noexcept { return current_ && position() == 1; }
  /// Somebody is behind us, as far as we know.
  bool has_followers() const noexcept { return current_ && self_ + 1 < members().size(); }

  /// Members ahead of us, by name, have left; those in `watched` would have been noticed. Nobody can have come before
  /// us since the list was read. So if all who were ahead are watched, the rest of the list is still complete. If only
  /// some are watched, others may have left as well: then the rest tells whether it is our turn, but not whom to wait
  /// for, and in that case the roster is not current any more.
  void depart(const std::vector<std::string>& names, const stretch& watched, const blocker& who_first);

  /// Takes over a list of others of the session, without its first members (`departed_in_front`) and those of these
  /// names that are in front now, if it lists us and shows that it is our turn. Returns whether that is so.
  bool take_turn_by(const member_list& listed, std::size_t departed_in_front, const std::vector<std::string>& gone,
                    const own& self, const blocker& who_first);

  /// The list is too old to act on.
  void expire() noexcept { current_ = false; }

  /// What the data of a member says of `member::lets_pass`.
  void set_pass(std::size_t which, bool lets_pass);

  /// Forgets everybody but ourselves and the member ahead of us with this index, and returns where that member is now.
  /// This saves memory where thousands wait.
  stretch forget_all_but(std::size_t ahead);

 private:
  void remove_ahead(const std::vector<std::string>& names);

  member_list members_;    // as last listed, without ghosts of ours; null before
  std::size_t first_ = 0;  // the first of them that is known to be there
  std::size_t self_ = 0;
  std::size_t forgotten_ = 0;  // how many members ahead of us are not in `members_`
  bool current_ = false;
};

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
  /// May be called by anybody in any thread.
  waiter(core_ptr session, line_spec line, std::string data);

  /// Enters the line: one round trip if the parent exists. If it is cancelled, or fails in a way that leaves open
  /// whether our node was created, the node is removed in the background. Error: `foreign_data` if somebody stands
  /// there already who is of another recipe (where the first list is lost `look` and `wait` say so).
  awaitable<outcome<>> enter();
  /// Lists the line. Errors: why our node was lost (`node_removed` if it is not listed), ...
  awaitable<error_code> list();
  /// Looks once whether it is our turn. Error: `busy` if somebody has to go first.
  awaitable<error_code> look(const blocker& who_first);
  /// Waits until nobody has to go first any more. `reconsider` is notified when `who_first` may answer in another way
  /// although nobody has left, and nothing has happened to our node. Errors: why our node was lost,
  /// `operation_aborted`, `no_auth`, ...
  awaitable<error_code> wait(const blocker& who_first, condition* reconsider = nullptr);
  /// Reports how many are ahead of us, now and whenever that is seen to change.
  void report_position(std::function<void(std::size_t)> hook);

  const own_node_ptr& node() const noexcept { return node_; }
  const roster& line() const noexcept { return roster_; }
  /// The parent as it was when we got in line, if that was asked for and the list came with it.
  const std::shared_ptr<const backend::reply>& parent() const noexcept { return parent_; }
  /// `line().is_next()` has become true, something happened to our node, or a member ahead that we watch has changed.
  condition& changed() noexcept { return changed_; }

 private:
  using hints = std::vector<std::unique_ptr<watch>>;
  awaitable<error_code> list_once();
  void assign(member_list members);
  awaitable<error_code> look_ahead(stretch who, hints& watched, std::vector<std::string>& gone);
  std::vector<std::size_t> watch_ahead(stretch who, hints& watched);
  void on_departures(stretch who, const hints& watched, std::vector<std::string> gone, const blocker& who_first);
  void report();
  awaitable<error_code> take_turn();
  bool take_turn_by_news(const std::vector<std::string>& gone, const blocker& who_first);
  std::string path_of(std::size_t which) const;

  own_node_ptr node_;
  line_news_ptr news_;
  roster roster_;
  std::shared_ptr<const backend::reply> parent_;
  std::function<void(std::size_t)> on_position_;
  std::size_t reported_ = static_cast<std::size_t>(-1);
  condition changed_;
  forwarding node_changes_;  // to `changed_`
};

using waiter_ptr = std::shared_ptr<waiter>;

/// Enters the line and waits for the turn; leaves again if that fails. `on_position` may be empty: see
/// `waiter::report_position`.
awaitable<outcome<ownership>> own_in_turn(core_ptr session, line_spec line, std::string data, blocker who_first,
                                          std::function<void(std::size_t)> on_position);

/// Enters the line and looks once; leaves again if that fails. With `bound` only a node that was created in that
/// incarnation counts. Errors besides those of `own_in_turn`: `busy` (somebody has to go first), `session_expired`
/// (another incarnation).
awaitable<outcome<ownership>> try_to_own(core_ptr session, line_spec line, std::string data, blocker who_first,
                                         incarnation_ptr bound = nullptr);

/// Lists the line first, so that one in which somebody stands costs no write (`busy`). Then as `try_to_own`, behind
/// nobody.
awaitable<outcome<ownership>> own_if_free(core_ptr session, line_spec line, std::string data);

}  // namespace zkrecipes::detail
