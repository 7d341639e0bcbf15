// A node that is kept alive: looked at whenever it may have changed, and made again when it is gone.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <zkrecipes/persistent_node.hpp>

#include "session/background.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// Tells by its data whether a persistent node that was there before us is the one that we are to keep.
using recogniser = std::function<bool(const std::string& data)>;

/// Which node at a path is the one that we keep.
struct kept_identity {
  bool is_ephemeral = false;
  recogniser same{};        ///< Null: every persistent node at the path is taken for ours.
  incarnation_ptr bound{};  ///< The session in which the node was made or found, or may have been.
  bool stands = false;
  std::int64_t czxid = 0;  ///< That of the node that was ours last, 0: there was none.

  /// While our node is known to stand, only a node with its `czxid` is ours. Another one in its place is not, even if
  /// it could be.
  bool is_own(const backend::reply& node, const incarnation_ptr& here) const;
  /// The session whose end removes the node; none for a persistent node.
  incarnation_ptr binding() const { return is_ephemeral ? bound : nullptr; }
};

class kept_node : public std::enable_shared_from_this<kept_node> {
 public:
  /// The data to write in place of `wanted`: with the marks that others have set in `there`, what our node holds.
  using mark_keeper = std::function<std::string(const std::string& there, std::string wanted)>;

  /// Without `same`, every persistent node at the path is taken for ours. Without `keep_marks`, what others have
  /// written is overwritten by the next write.
  kept_node(core_ptr session, std::string path, std::string data, persistent_node_options options, recogniser same = {},
            mark_keeper keep_marks = {});

  // From any thread.
  void start();
  void close_later();
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  const std::string& path() const noexcept { return path_; }
  const persistent_node_options& options() const noexcept { return options_; }
  persistent_node_status status() const;

  // On the strand.
  /// Null once the work is over.
  const core_ptr& session() const noexcept { return session_; }
  awaitable<outcome<>> wait_started();
  /// Waits until the node stands, or an error keeps it from standing. While another session's node is in the way
  /// (`busy`) it waits on for this time, if that node holds what `may_go` admits.
  awaitable<error_code> wait_standing(recogniser may_go, lease_clock::duration limit);
  awaitable<outcome<>> set_data(std::string data);
  awaitable<outcome<persistent_node_status>> wait_status_change(std::uint64_t seen);
  awaitable<outcome<>> close();
  /// The data that was set last, written or not.
  const std::string& data() const noexcept { return data_; }

 private:
  awaitable<void> run();
  awaitable<void> keep();
  awaitable<error_code> stand();
  awaitable<error_code> make(const incarnation_ptr& here, exchange_ptr creating);
  error_code judge(const backend::reply& node, const incarnation_ptr& here);
  awaitable<error_code> write();
  awaitable<bool> rest(const watch& hint, const error_code& error, back_off& pause);
  void record_data(const backend::reply& node);
  std::string content() const { return keep_marks_ ? keep_marks_(there_, data_) : data_; }
  void on_present(const node_stat& node, bool made);
  void on_absent();
  void record(const error_code& error);

  scheduler_ptr scheduler_;
  core_ptr session_;
  const std::string path_;
  const persistent_node_options options_;
  const mark_keeper keep_marks_;
  kept_identity own_;
  std::string data_;
  std::string there_;          // what our node held when it was read last; with `keep_marks_` only
  std::string in_the_way_;     // what another session's node at the path holds
  std::uint64_t wanted_ = 1;   // number of the data that is to be written
  std::uint64_t written_ = 0;  // number of the data that the node holds
  std::uint64_t tries_ = 0;    // number of tries that came to a result
  bool finished_ = false;
  error_code end_;  // the result of the removal
  condition changed_;
  background work_;

  mutable std::mutex mutex_;
  persistent_node_status status_;
};

using kept_node_ptr = std::shared_ptr<kept_node>;

}  // namespace zkrecipes::detail
