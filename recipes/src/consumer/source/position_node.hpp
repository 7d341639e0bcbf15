// The node in which a group keeps its position in a log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/transaction.hpp>

#include "session/outcomes.hpp"
#include "session/watch_registry.hpp"
#include "source/source_frame.hpp"

namespace zkrecipes::detail {

/// Knows the version that the next commit writes from, and notices when somebody else has written or removed the node.
/// The text in it belongs to the source. On the strand.
class position_node {
 public:
  using replies = std::vector<backend::reply>;
  /// Further requests of the same round trip, made anew for each try.
  using more_requests = std::function<std::vector<backend::request>()>;

  position_node(source_frame_ptr frame, std::string path);

  const std::string& path() const noexcept { return path_; }
  /// Notified when the node has changed, perhaps by our own commit.
  condition& changed() noexcept { return changed_; }

  /// Forgets everything.
  void reset();
  /// Reads the node and the record of the source, the first time. Behind a catch-up, because an older position would
  /// hand out messages that the term before has settled. A missing node is made, with the text `first`, when the record
  /// agrees with ours. The first reply is that of the node, and has no error; the record has none that is not ours.
  awaitable<outcome<replies>> begin(std::string first, more_requests more = {});
  /// What `begin` has read is what is written from.
  void know(const backend::reply& seen);
  bool is_known() const noexcept { return is_known_; }

  /// Reads the node again, and compares it with what is known. Without an error each reply is an answer of a server;
  /// the first is that of the node.
  awaitable<outcome<replies>> look(more_requests more);
  awaitable<error_code> look();
  bool has_fired() const noexcept { return watch_ && watch_->fired(); }
  bool wants_look() const noexcept { return is_known_ && !is_outdated_ && has_fired(); }

  /// Somebody else has written or removed it. Nothing may be received until it is read again.
  bool is_outdated() const noexcept { return is_outdated_; }
  void mark_outdated() noexcept { is_outdated_ = true; }

  /// The write of a commit, from the version that is known.
  void write(transaction& to, std::string text) const { to.set(path_, std::move(text), version_); }
  void on_written() {
    ++version_;
    changed_.notify();
  }
  /// That write was refused. False: the refusal concerns the whole term.
  bool on_refused(const error_code& why);

  /// Waits after a failure that tells nothing of what is stored. Error: there is no further try.
  awaitable<error_code> pause_before_retry(error_code failure);
  /// A server has answered: the next pause of `pause_before_retry` is the first one again.
  void on_answered() { pause_.reset(); }

 private:
  awaitable<outcome<replies>> read(bool is_first, more_requests more);
  awaitable<error_code> make(std::string first);

  source_frame_ptr frame_;
  core_ptr session_;
  std::string path_;
  bool is_known_ = false;
  bool is_outdated_ = false;
  std::int32_t version_ = 0;
  std::int64_t created_ = 0;  // the zxid of its creation
  std::shared_ptr<watch> watch_;
  condition changed_;
  back_off pause_;
};

}  // namespace zkrecipes::detail
