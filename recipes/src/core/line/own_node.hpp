// The node that stands for us in a line.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "line/line_spec.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

// Entering a line: the node that stands for us is created surely, and the line is listed, in one round trip.

/// Which node stands for us in a line.
struct line_place {
  std::string guid;  ///< A part of the name of our node, by which it is found after a lost reply.
  /// The incarnation of the session in which the node is created; null before anything was sent.
  incarnation_ptr bound;
  std::string path;  ///< Empty until it is known to be there.
  std::int64_t token = 0;
  std::int32_t sequence = 0;
  /// A create whose reply was lost may have made a second node, which may still turn up.
  bool may_have_ghost = false;
};

/// The answers to the requests that were sent along with the creation of our node.
struct line_reading {
  member_list members;                             ///< Null if the list was lost.
  std::shared_ptr<const backend::reply> parent{};  ///< If the line reads it, and the list has come.
};

/// Creates our node (`ours` has its GUID already) and lists the line: one round trip if the parent exists. Behind an
/// error, too, `ours` tells what may have to be removed. Errors: those of `check_neighbours`, ... The references have
/// to outlive it.
awaitable<error_code> enter_line(const core_ptr& session, const line_spec& line, const std::string& data,
                                 line_place& ours, line_reading& seen);

/// Sees that the line can be used, judged by the numbers of the members of other recipes (`strangers_among`). Those do
/// not know that we are here. If one of them came before us, the path is not ours to use, and our node is removed. If
/// it came behind us, it has to see that itself. Errors: `foreign_data`, `sequence_exhausted`.
error_code check_neighbours(core& session, const line_place& ours, const std::vector<std::int32_t>& strangers);

/// One list of a line for all of a session who get in line at the same time: among ten thousand who do so, each with a
/// list of its own would be too much for any process.
class roll_call : public std::enable_shared_from_this<roll_call> {
 public:
  /// Asks for the list, and for the parent if the line reads it, behind everything that has been sent so far. All who
  /// do so in the same turn of the strand share requests and answers.
  static std::shared_ptr<roll_call> of(const core_ptr& session, const line_spec& line);

  /// Waits for the answer. Null: there is none, or the waiting was cancelled.
  awaitable<member_list> wait();
  /// Afterwards: the numbers of those who are of another recipe, see `strangers_among`.
  const std::vector<std::int32_t>& strangers() const noexcept { return strangers_; }
  /// The parent, if the line reads it; null without an answer.
  const std::shared_ptr<const backend::reply>& parent() const noexcept { return parent_node_; }

  roll_call(core_ptr session, const line_spec& line);

 private:
  bool suits(const line_spec& line) const;
  awaitable<void> ask();
  awaitable<void> list();
  exchange_ptr read_parent();

  core_ptr session_;
  std::string parent_;
  std::span<const std::string_view> accepted_;
  parent_reading reads_parent_;
  bool answered_ = false;
  member_list present_;
  std::vector<std::int32_t> strangers_;
  std::shared_ptr<const backend::reply> parent_node_;
  condition changed_;
};

class own_node;

/// Whether a node is ours: until it is lost or left, and by the session's lease and by limits of our own. All but `end`
/// and `limit` from any thread.
class node_hold {
 public:
  node_hold(const core& session, const line_place& which) : session_(session), which_(which) {}

  /// Why the node was lost or left, as far as it was noticed.
  error_code lost() const;
  /// Why the node is not ours, by the clock of this moment, also before `lost` shows it.
  error_code error() const;
  /// End of the belief that the node is ours, by the session's lease.
  lease_clock::time_point valid_until() const;

  /// False: it had ended before.
  bool end(error_code why);
  /// The node is lost at this time with `revoked`, unless that was to happen earlier.
  void limit(lease_clock::time_point when);

  // On the strand.
  lease_clock::time_point limited_until() const noexcept { return until_; }
  /// When the clock has to be looked at again.
  lease_clock::time_point believed_until() const;
  /// Why the hold is over: by the clock, or because the session ended. No error while it lasts.
  error_code due() const;

 private:
  const core& session_;
  const line_place& which_;
  mutable std::mutex mutex_;
  error_code lost_;
  lease_clock::time_point until_ = never;  // written on the strand, so it is read there without the mutex
};

/// The node as last seen: others can write to it.
struct node_content {
  std::string data;
  std::int32_t version = 0;
  std::int64_t written =
      0;  ///< The transaction that wrote it, or created the node: the same data can be written again.
};

/// Watches the node, which an operator can remove, and to which others can write that we should give it up; and the
/// clock. On the strand.
class node_guard {
 public:
  node_guard(own_node& whose, std::string data) : node_(whose), content_{std::move(data)} {}

  /// Starts a coroutine that runs for as long as the node is ours.
  void start();

  const node_content& content() const noexcept { return content_; }
  /// A request to give the node up was read.
  bool is_revoked() const noexcept { return is_revoked_; }
  /// Whether an event has reported the deletion of the node; the read behind the event shows the reason.
  bool is_deletion_told() const;

 private:
  static awaitable<void> run(std::shared_ptr<own_node> node);
  awaitable<void> watch_node();
  void read(const backend::reply& seen);
  void look_for_request(const std::string& data);

  own_node& node_;
  node_content content_;
  core::holder holder_;  // our own, among the session's
  bool is_revoked_ = false;
  std::weak_ptr<const watch> hint_;  // the present one
  bool is_deletion_told_ = false;    // by an event that came before this hint
};

/// An ephemeral sequential node of ours, from its creation until it is lost or left.
class own_node : public std::enable_shared_from_this<own_node> {
 public:
  own_node(core_ptr session, line_spec line, std::string data);

  /// Enters the line. To be called once. If it is cancelled, or fails in a way that leaves open whether the node was
  /// created, the node is removed in the background. Error: `foreign_data` if somebody stands there already who is of
  /// another recipe (where the list is lost, `check_neighbours` says so later).
  awaitable<outcome<line_reading>> create();

  /// Waits until the node is lost or left.
  awaitable<outcome<>> wait_lost();
  /// Waits until somebody asks us to give it up, or until it is lost or left.
  awaitable<outcome<>> wait_revoked();
  /// Waits until `told` is notified, or until then, while the node is ours. The clock is watched here, too.
  awaitable<error_code> wait_held(condition& told, lease_clock::time_point until = never);

  /// Gives the node up; waits until the server has removed it, unless cancelled.
  awaitable<outcome<>> leave();
  /// The same in the background. From any thread.
  void leave_later() noexcept;
  /// Gives the node up at this time, unless a request says earlier: it is lost then with `revoked`.
  void give_up_by(lease_clock::time_point when);
  /// The node is to go by a transaction of the caller's: from now on it is not ours. `clear_away` afterwards.
  void disown();
  /// Removes in the background what the transaction may have left.
  void clear_away(bool node_too);
  /// The node is not ours any more.
  void lose(error_code why);
  /// Whether it is lost; the end of the session, of its lease, or of a limit is noticed here.
  bool lose_if_over();

  // From any thread.
  const std::string& path() const noexcept { return place_.path; }
  std::string name() const { return std::string(name_of(place_.path)); }
  std::int64_t token() const noexcept { return place_.token; }
  const core_ptr& session() const noexcept { return session_; }
  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  error_code lost() const { return hold_.lost(); }
  const node_hold& hold() const noexcept { return hold_; }

  // On the strand.
  node_hold& hold() noexcept { return hold_; }
  const line_spec& line() const noexcept { return line_; }
  const line_place& place() const noexcept { return place_; }
  const incarnation_ptr& bound() const noexcept { return place_.bound; }
  const node_content& content() const noexcept { return guard_.content(); }
  bool revoked() const noexcept { return guard_.is_revoked(); }
  /// Why it is not ours, by the clock of this moment. Where an event has told that it was deleted, the look behind
  /// that event is waited for: until then it is not known why.
  awaitable<error_code> confirm();
  /// The node was lost or left, a request to give it up was read, or its data was written.
  condition& changed() noexcept { return changed_; }

 private:
  friend class node_guard;
  core_ptr session_;
  line_spec line_;
  line_place place_;
  node_hold hold_;
  node_guard guard_;
  condition changed_;
};

using own_node_ptr = std::shared_ptr<own_node>;

/// Sends all of these requests at once, as soon as there is a connection and a server that is not too busy, for as long
/// as the node is ours: its loss ends the waiting, not a limit of retries. Error besides why it was lost:
/// `connection_loss`, when it is time for another try. `node` has to outlive it.
awaitable<outcome<std::vector<backend::reply>>> ask(own_node& node, std::vector<backend::request> all);

/// Gives a node up when it is destroyed, unless the node is kept: an exception, too, must leave nobody in line.
class leaving {
 public:
  explicit leaving(own_node_ptr node) : node_(std::move(node)) {}
  leaving(const leaving&) = delete;
  ~leaving() {
    if (node_) node_->leave_later();
  }
  void keep() noexcept { node_.reset(); }

 private:
  own_node_ptr node_;
};

}  // namespace zkrecipes::detail
