// A source with a position: what all logs have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/transaction.hpp>

#include "delivery/message_source.hpp"
#include "session/outcomes.hpp"
#include "session/watch_registry.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

/// The node in which a group keeps its position in a log.
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

// The dead letters of a source: those of a queue, with the shard in front of the message's name.

/// Its item is `<shard>/<name of the message>`, and its key that of the message. See `settlement::most_data`.
dead_letter letter_of(const settlement& each, std::uint32_t shard);
/// The shard of such a letter. `is_message`: whether a text can be the name of a message. It may have slashes, too.
std::optional<std::uint32_t> shard_of_letter(std::string_view item, bool (*is_message)(std::string_view));

/// Nothing leaves the log with a commit: one write moves the position behind all its messages, whatever their number.
/// Dead letters go to a folder of the group. The log itself may be elsewhere.
class log_source : public message_source {
 public:
  log_source(source_frame_ptr frame, std::uint32_t shard, std::string group);

  traits get_traits() const override {
    return {.settles_singly = false, .parks_keys = false, .most_at_once = 1'000, .cuts_letters = true};
  }
  bool can_read_again() const noexcept final { return true; }
  /// A position that can not be written stands in the way of all.
  bool adapt(std::size_t, const error_code& why) override { return position_.on_refused(why); }
  bool is_outdated() const noexcept override { return position_.is_outdated(); }
  condition* changed() final { return &position_.changed(); }
  bool wants_look() const noexcept final { return position_.wants_look(); }
  void on_unknown_outcome() final { position_.mark_outdated(); }
  awaitable<outcome<std::set<std::string>>> parked_keys() final;
  awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string> keys) final;
  void put_back(const std::vector<std::string>&) final { position_.mark_outdated(); }
  std::string place_of_marks() const final { return source_->where.marks(shard_, group_); }
  awaitable<error_code> prepare(settlement::kind what, bool parks_key) final;
  transaction settling(const settlement& each) const final;

 protected:
  std::uint32_t shard() const noexcept { return shard_; }
  const std::string& group() const noexcept { return group_; }
  position_node& position() noexcept { return position_; }

 private:
  source_frame_ptr source_;
  std::uint32_t shard_;
  std::string group_;
  position_node position_;
};

/// Notes in a progress what has become of these messages. `place_of`: makes a place in it of a name, or nothing.
template <class Progress, class PlaceOf>
void note_settlements(Progress& in, const std::vector<settlement>& batch, PlaceOf place_of) {
  for (const auto& each : batch) {
    const auto which = place_of(each.what->name);
    if (!which) continue;
    if (each.how == settlement::kind::count_attempt)
      in.fail(*which, each.first_failed);
    else
      in.settle(*which);
  }
}

}  // namespace zkrecipes::detail
