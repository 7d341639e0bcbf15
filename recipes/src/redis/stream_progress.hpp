// Which entries of a stream a group has settled, between what is stored and what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "redis/stream_position.hpp"

namespace zkrecipes::detail {

/// Entries are opened in order, as they are read, and settled in any order. The position follows behind the first entry
/// that is not settled. It does no I/O.
class stream_progress {
 public:
  stream_progress() = default;
  explicit stream_progress(stream_position stored) : stored_(std::move(stored)) {}

  /// It was read. False: it was settled before.
  bool open(const stream_id& which);
  bool is_settled(const stream_id& which) const;
  void settle(const stream_id& which);
  void fail(const stream_id& which, std::int64_t since);
  failed_attempts failed(const stream_id& which) const;

  /// The last entry that is settled, or was read.
  stream_id farthest() const;
  /// Whether something was read and is not settled.
  bool has_open() const noexcept { return open_.size() > settled_count_; }
  /// The stream ends here, in front of what is known: it has lost what was behind it. Nothing is open.
  void fall_back(const stream_id& end);

  stream_position position() const;
  /// What may be removed from the stream: it, and all in front of it, are settled.
  const stream_id& last() const noexcept { return stored_.last; }

 private:
  void pass_stored(const stream_id& which);
  void move_on();

  struct entry {
    stream_id id;
    bool is_settled;
  };
  std::deque<entry>::iterator find(const stream_id& which);

  stream_position stored_;         // `last` is up to date; `ahead` is behind all that was read
  std::deque<entry> open_;         // read, and behind `last`; in order. A commit copies it, so it is flat
  std::size_t settled_count_ = 0;  // of the open ones
};

}  // namespace zkrecipes::detail
