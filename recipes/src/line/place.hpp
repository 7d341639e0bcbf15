// A place in the one herd-free waiting line that most recipes are made of.
//
// Ephemeral sequential nodes under one parent, in order of arrival. Whoever must wait watches only the nearest member
// that has to go first, so one is woken per departure. (The lock recipe of ZooKeeper's documentation.)
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "line/member_data.hpp"
#include "line/node_name.hpp"
#include "line/roll_call.hpp"
#include "session/core.hpp"
#include "session/hook.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Whether the parent's data is read on the way in, at no extra round trip, and on which side of the list.
enum class parent_reading {
  none,
  before_list,  ///< A member that the parent names and the list does not has gone.
  after_list,   ///< The parent says what counts for the members of the list, or for fewer.
};

/// Which line: where it stands and how its members are named.
struct line_spec {
  std::string parent;
  std::string marker;                          ///< Of our own nodes.
  std::span<const std::string_view> accepted;  ///< Of all members, ours included.
  parent_reading reads_parent = parent_reading::none;
  bool (*lets_pass)(const std::string& data) = nullptr;  ///< Whether a member with this data is in nobody's way.
  bool one_by_one = false;  ///< Everybody waits for the one in front, and remembers only that one.
};

/// Members in a row, by their indices: `last` is not one of them.
struct stretch {
  stretch(std::size_t one) : first(one), last(one + 1) {}
  stretch(std::size_t from, std::size_t to) : first(from), last(to) {}
  friend bool operator==(const stretch&, const stretch&) = default;
  std::size_t first, last;
};

/// Decides who before `self` has to go first: mostly the nearest such member, or several if the departure of any of
/// them can make room; nothing if it is our turn.
using blocker = std::function<std::optional<stretch>(const std::vector<member>& members, std::size_t self)>;

/// First come, first served, one at a time.
std::optional<std::size_t> nearest_ahead(const std::vector<member>& members, std::size_t self);

class place : public std::enable_shared_from_this<place> {
 public:
  /// Gets in line: one round trip if the parent exists. If it is cancelled, or fails in a way that leaves open whether
  /// our node was created, the node is removed in the background. Error: `foreign_data` if somebody stands there
  /// already who is of another recipe (where the first list is lost `wait_turn` and `try_turn` say so).
  static awaitable<outcome<std::shared_ptr<place>>> enter(core_ptr session, line_spec line, std::string data);
  /// The same for one that has been made, by anybody in any thread.
  awaitable<error_code> get_in();

  /// Waits until nobody has to go first any more. Errors: why the place was lost, `operation_aborted`, `no_auth`, ...
  awaitable<error_code> wait_turn(const blocker& who_first);
  /// Lists the line unless that has been done.
  awaitable<error_code> know_line();
  /// Looks once. Error: `busy` if somebody has to go first.
  awaitable<error_code> try_turn(const blocker& who_first);
  /// Tells how many are ahead of us, now and whenever it is seen to change.
  void tell_position(std::function<void(std::size_t)> hook);

  /// Waits until the place is lost or left.
  awaitable<outcome<>> wait_lost();
  /// Or until somebody asks for it.
  awaitable<outcome<>> wait_revoked();

  /// Asks for all of this at once, as soon as there is a connection and a server that is not too busy, for as long as
  /// the place is held: its loss ends the waiting, not a limit of retries. Error besides why it was lost:
  /// `connection_loss`, when it is time for another try.
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> all);

  /// Gives the place up; waits until the server has removed the node, unless cancelled.
  awaitable<outcome<>> leave();
  /// The same in the background. From any thread.
  void leave_later();
  /// Our node is to go by a transaction of the caller's: from now on it is not ours. `clear_away` afterwards.
  void disown();
  /// Removes in the background what the transaction may have left.
  void clear_away(bool node_too);

  // From any thread.
  const std::string& path() const noexcept { return path_; }
  std::int64_t token() const noexcept { return token_; }
  const core_ptr& session() const noexcept { return session_; }
  error_code lost() const;
  /// End of the belief that it is ours, by the session's lease.
  lease_clock::time_point valid_until() const;

  // On the strand.
  const incarnation_ptr& bound() const noexcept { return bound_; }
  bool revoked() const noexcept { return revoked_; }
  /// What our node says, as last seen: others can write to it. `changed` tells when it does.
  const std::string& data() const noexcept { return data_; }
  /// Exactly one member is ahead of us, as far as we know. `changed` tells when that begins.
  bool is_next() const noexcept { return listed_ && position() == 1; }
  /// Somebody is behind us, as far as we know.
  bool has_followers() const noexcept { return listed_ && self_ + 1 < members_->size(); }
  /// Everybody in line as last listed, if that has happened; nobody twice who is of this place. Where it goes one by
  /// one, only while nobody waits.
  const std::vector<member>& members() const noexcept { return *members_; }
  bool listed() const noexcept { return listed_; }
  const std::string& guid() const noexcept { return guid_; }
  /// The parent as it was when we got in line, if that was asked for and the list came with it.
  const std::shared_ptr<const backend::reply>& parent() const noexcept { return parent_; }
  condition& changed() noexcept { return changed_; }
  std::string name() const { return std::string(name_of(path_)); }

  place(core_ptr session, line_spec line, std::string data);
  ~place();

 private:
  awaitable<error_code> create();
  awaitable<error_code> find_own();
  error_code settle(const std::vector<std::int32_t>& strangers);
  static awaitable<void> guard(std::shared_ptr<place> self);
  using hints = std::vector<std::unique_ptr<watch>>;
  std::vector<std::size_t> watch_ahead(stretch who, hints& watched);
  awaitable<error_code> look_ahead(stretch who, hints& watched, std::vector<std::string>& gone);
  void note_departures(stretch who, const hints& watched, std::vector<std::string> gone, const blocker& who_first);
  void depart(const std::vector<std::string>& gone);
  void note_pass(std::size_t which, bool lets_pass);
  stretch forget_all_but(std::size_t ahead);
  std::size_t position() const noexcept { return forgotten_ + self_; }
  awaitable<error_code> list();
  awaitable<error_code> wait_held(condition& told, lease_clock::time_point until = never);
  awaitable<outcome<std::vector<backend::reply>>> ask_once(const std::vector<backend::request>& all);
  void accept(std::string path, const node_stat& s);
  void note_position();
  void lose(error_code why);
  bool note_lost(error_code why);
  bool lose_if_over();
  void read_own(std::string data);
  void look_for_request(const std::string& data);
  lease_clock::time_point believed_until() const;

  core_ptr session_;
  line_spec line_;
  std::string guid_;
  std::string data_;
  incarnation_ptr bound_;
  std::string path_;
  core::holder holder_;  // our own, among the session's
  std::int64_t token_ = 0;
  std::int32_t sequence_ = 0;
  roster members_ = std::make_shared<const std::vector<member>>();  // as last listed, without ghosts of ours
  std::size_t self_ = 0;                                            // our index in it
  std::size_t forgotten_ = 0;                                       // how many stood before those in it
  bool listed_ = false;
  std::shared_ptr<const backend::reply> parent_;
  bool ghost_ = false;  // a create of ours may have happened unseen
  bool revoked_ = false;
  lease_clock::time_point give_up_at_ = never;  // the end of a revocation's grace
  std::function<void(std::size_t)> on_position_;
  std::size_t told_ = static_cast<std::size_t>(-1);  // the last position told
  condition changed_;

  mutable std::mutex mutex_;
  error_code lost_;
};

using place_ptr = std::shared_ptr<place>;

}  // namespace zkrecipes::detail
