// The node that stands for us in a line.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "line/line_spec.hpp"
#include "line/node_name.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// The answers to the requests that were sent along with the creation of our node.
struct line_reading {
  member_list members;                             ///< Null if the list was lost.
  std::shared_ptr<const backend::reply> parent{};  ///< If the line reads it, and the list has come.
};

/// An ephemeral sequential node of ours, from its creation until it is lost or left. Its guard, a coroutine, watches
/// the lease and the node itself, which an operator can remove, and to which others can write that we should give it
/// up.
class own_node : public std::enable_shared_from_this<own_node> {
 public:
  own_node(core_ptr session, line_spec line, std::string data);

  /// Creates the node and lists the line: one round trip if the parent exists. To be called once. If it is cancelled,
  /// or fails in a way that leaves open whether the node was created, the node is removed in the background. Error:
  /// `foreign_data` if somebody stands there already who is of another recipe (where the list is lost, `check_path`
  /// says so later).
  awaitable<outcome<line_reading>> create();
  /// Sees that the line can be used, judged by the numbers of the members of other recipes (`strangers_among`). Those
  /// do not know that we are here. If one of them came before us, the path is not ours to use, and our node is removed.
  /// If it came behind us, it has to see that itself. Errors: `foreign_data`, `sequence_exhausted`.
  error_code check_path(const std::vector<std::int32_t>& strangers);
  /// The line was listed, and our node was not there.
  void note_removed() { lose(errc::node_removed); }

  /// Waits until the node is lost or left.
  awaitable<outcome<>> wait_lost();
  /// Waits until somebody asks us to give it up, or until it is lost or left.
  awaitable<outcome<>> wait_revoked();

  /// Sends all of these requests at once, as soon as there is a connection and a server that is not too busy, for as
  /// long as the node is ours: its loss ends the waiting, not a limit of retries. Error besides why it was lost:
  /// `connection_loss`, when it is time for another try.
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> all);

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

  // From any thread.
  const std::string& path() const noexcept { return path_; }
  std::string name() const { return std::string(name_of(path_)); }
  std::int64_t token() const noexcept { return token_; }
  const core_ptr& session() const noexcept { return session_; }
  /// As the guard has noticed it.
  error_code lost() const;
  /// Why it is not ours, by the clock of this moment: the guard may not have noticed it yet.
  error_code error() const;
  /// End of the belief that the node is ours, by the session's lease.
  lease_clock::time_point valid_until() const;

  // On the strand.
  const line_spec& line() const noexcept { return line_; }
  const std::string& guid() const noexcept { return guid_; }
  std::int32_t sequence() const noexcept { return sequence_; }
  const incarnation_ptr& bound() const noexcept { return bound_; }
  /// A create of ours whose reply was lost may have made a second node, which may still turn up.
  bool may_have_ghost() const noexcept { return ghost_; }
  bool revoked() const noexcept { return revoked_; }
  /// Why it is not ours, by the clock of this moment. Where an event has told that it was deleted, the look behind
  /// that event is waited for: until then it is not known why.
  awaitable<error_code> confirm();
  /// The data of the node as last seen: others can write to it.
  const std::string& data() const noexcept { return data_; }
  std::int32_t version() const noexcept { return version_; }
  /// The transaction that wrote the data, or created the node: the same data can be written again.
  std::int64_t written() const noexcept { return written_; }
  /// The node was lost or left, a request to give it up was read, or its data was written.
  condition& changed() noexcept { return changed_; }

 private:
  awaitable<error_code> try_create(line_reading& seen);
  awaitable<error_code> find(line_reading& seen);
  void accept(std::string path, const node_stat& s);
  awaitable<error_code> wait_held(condition& told, lease_clock::time_point until = never);
  awaitable<outcome<std::vector<backend::reply>>> ask_once(const std::vector<backend::request>& all);

  void watch_over();
  static awaitable<void> guard(std::shared_ptr<own_node> self);
  awaitable<void> watch_node();
  void read_own(const backend::reply& node);
  void look_for_request(const std::string& data);
  lease_clock::time_point believed_until() const;
  void record_end(lease_clock::time_point when);
  void lose(error_code why);
  bool note_lost(error_code why);
  bool lose_if_over();
  bool is_deletion_told() const;

  core_ptr session_;
  line_spec line_;
  std::string guid_;
  std::string data_;
  std::int32_t version_ = 0;  // of the data
  std::int64_t written_ = 0;
  incarnation_ptr bound_;
  std::string path_;
  core::holder holder_;  // our own, among the session's
  std::int64_t token_ = 0;
  std::int32_t sequence_ = 0;
  bool ghost_ = false;
  bool revoked_ = false;
  condition changed_;
  std::weak_ptr<const watch> hint_;  // the guard's
  bool is_deletion_told_ = false;    // by an event that came before this hint

  mutable std::mutex mutex_;
  error_code lost_;
  lease_clock::time_point give_up_at_ = never;  // the end of a revocation's grace, or of our own limit. Written on the
                                                // strand, so it is read there without the mutex
};

using own_node_ptr = std::shared_ptr<own_node>;

}  // namespace zkrecipes::detail
