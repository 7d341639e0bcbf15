// Where a queue stands in ZooKeeper, the meaning of its items' names, and what all parts of one queue object share: its
// frame, and the servers' clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/node.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/transaction.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

// The format of a dead letter: one line of JSON about the item, then the item's data, unchanged.

/// The name and `since` of the letter are those of the node, and not written.
std::string write_letter(const dead_letter& letter);
/// Nothing if the text was not written by `write_letter`.
std::optional<dead_letter> read_letter(std::string_view text);

// The mark of a key whose messages are parked: `_parked/<name>`. Its name follows from the key, so that the consumer
// and an operator need not look for it. The first version of the mark means that messages of the key are parked; a
// later one that they are being put back. A node below the
// mark has the name of this parking, because another one of the same key has the same mark.

/// The version of a mark that nobody has changed.
inline constexpr std::int32_t mark_of_parking = 0;

/// The name of the mark: a UUID made of the whole key.
std::string mark_of(std::string_view key);
bool is_mark(std::string_view name);
/// How the names of the dead letters of a key begin: the number follows.
std::string letters_of(std::string_view mark);
/// The name of the mark that a dead letter of this name belongs to; empty if it belongs to none.
std::string_view mark_of_letter(std::string_view letter);

/// The first bytes of a key, for operators.
std::string shown_key(std::string_view key);
std::string write_mark(std::string_view key);
/// The first bytes of the key; nothing if the text was not written by `write_mark`.
std::optional<std::string> read_mark(std::string_view text);

// How often an item was handed out, by the numbers that the server keeps.

/// How often an item has been handed out. Each claim creates a node below the item and removes it again, which the
/// item's `cversion` counts. A claim that is taken back before anybody was told of the item writes the item's data once
/// more, which the item's `version` counts.
std::int32_t attempts_of(const node_stat& item);
/// Adds the operations that raise this count by so many.
void count_attempts(transaction& all, const std::string& item, std::int32_t so_many);

/// An item of a queue, as its name describes it.
/// A lower rank goes first; items of the same rank go in order of arrival.
struct entry {
  std::string name;
  std::int64_t rank = 0;  ///< The priority, or the time from which it can be taken.
  std::int32_t sequence = 0;
};

/// Whether an item goes before another one.
bool goes_first(const entry& a, const entry& b);

enum class queue_kind { fifo, priority, delayed };

/// The paths of a queue: `items` is the folder of the items, `side` that of all other nodes (the same folder unless
/// `is_apart`).
struct queue_layout {
  queue_layout(queue_kind what, std::string path);

  /// The item that has this name; nothing if it is not the name of an item.
  std::optional<entry> parse(std::string_view name) const;
  /// The items among the children, in order.
  std::vector<entry> items_of(const std::vector<std::string>& children) const;
  /// Whether a child is a node of this recipe other than an item.
  bool is_known(std::string_view name) const;
  /// Whether another recipe uses this folder: some children bear the names of another recipe, and none belongs to a
  /// queue of this kind.
  bool is_strange(const std::vector<std::string>& children) const;
  /// The name of an item of this rank, before the server appends the number.
  std::string marker(std::int64_t rank) const;

  std::string item(std::string_view name) const { return join(items, name); }
  std::string claim(std::string_view name) const;
  std::string on_side(std::string_view name) const { return join(side, name); }
  bool is_apart() const noexcept { return side != items; }

  queue_kind kind;
  std::string items;
  std::string side;
};

inline constexpr std::string_view claim_prefix = "_claim-";
inline constexpr std::string_view idle_folder = "_idle";      ///< The line of takers that wait.
inline constexpr std::string_view dead_folder = "_dead";      ///< The dead letters.
inline constexpr std::string_view parked_folder = "_parked";  ///< The marks of keys whose messages are parked.
inline constexpr std::string_view gate_name = "_gate";        ///< The tickets for puts to a queue with a limit.
inline constexpr std::string_view clock_name = "_clock";      ///< Written to learn the leader's time.
inline constexpr std::string_view marks_name = "_repeats";    ///< The highest numbers of the producers.
inline constexpr std::string_view return_prefix = "_end-";    ///< Draws the number of an item that moves to the end.
inline constexpr std::string_view producer_prefix = "_producer-";

// What all parts of one queue object share.

struct queue_frame {
  core_ptr session;
  queue_layout where;
  queue_options options;
};

using shared_frame = std::shared_ptr<const queue_frame>;

/// An estimate of the clock of the ensemble's leader.
///
/// The leader stamps each write with its time. Its clock showed that time between our sending and the answer, so it is
/// known to within a round trip, as long as both clocks run at the same pace. If our clock is faster, successive stamps
/// show it; without that correction a taker with a fast clock would claim each item a little early and lose its turn to
/// others.
class server_clock {
 public:
  explicit server_clock(shared_frame frame) : frame_(std::move(frame)) {}

  /// Learns the leader's time by writing a node, unless it is known from the last minute and the same connection.
  awaitable<error_code> learn();
  /// Notes the stamp (milliseconds since 1970) of a write that was sent and answered at these moments.
  void observe(std::int64_t stamp, lease_clock::time_point sent, lease_clock::time_point answered);

  bool is_known() const;
  /// The leader's clock surely shows at least `earliest` now, and at most `latest`.
  std::int64_t earliest() const;
  std::int64_t latest() const;
  /// The time on our clock at which `earliest` reaches `shown`, or at which the time has to be learned again if that is
  /// sooner.
  lease_clock::time_point when(std::int64_t shown) const;

 private:
  shared_frame frame_;
  double pace(std::int64_t stamp, lease_clock::time_point sent) const;

  std::int64_t stamp_ = 0;
  double pace_ = 1;  ///< The pace of the leader's clock relative to ours.
  lease_clock::time_point sent_{};
  lease_clock::time_point answered_{};
  std::uint64_t connection_ = 0;  // the connection on which the time was learned; 0: none yet
};

}  // namespace zkrecipes::detail
