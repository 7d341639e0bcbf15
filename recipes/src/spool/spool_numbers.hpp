// The numbers of a spooled producer: those of messages in the file, and what follows from the queue's number.
#pragma once

#include <algorithm>
#include <cstdint>

#include "spool/spool_disk.hpp"

namespace zkrecipes::detail {

/// Messages up to `put` are in the queue, those up to `spooled` in the file. A message has the same number in both,
/// less `base`: it differs from 0 once the queue was removed, or had messages that the file does not know. It does no
/// I/O.
class spool_numbers {
 public:
  /// The result of comparing the queue's last number with that of the file.
  struct finding {
    enum class kind {
      expected,
      gap,     ///< The queue has messages that the file never had.
      anew,    ///< The queue has forgotten messages: it was removed, or is an older copy.
      foreign  ///< Another producer has put messages since we agreed with the queue.
    };
    kind what = kind::expected;
    std::uint64_t put = 0;
    std::int64_t base = 0;
    std::uint64_t count = 0;  ///< So many messages are in the gap, or forgotten.
  };

  void open(const spool_extent& found) noexcept;

  std::uint64_t put() const noexcept { return put_; }
  std::uint64_t spooled() const noexcept { return spooled_; }
  std::int64_t base() const noexcept { return base_; }
  std::uint64_t lag() const noexcept { return spooled_ - put_; }
  /// The queue has been asked since the last failure. Only then may messages be sent.
  bool is_agreed() const noexcept { return is_agreed_; }
  /// For the next transaction: the first message that can not be in the queue, 0 if that is not known of any.
  std::uint64_t unsent_from(bool appends) const noexcept;

  finding compare(std::uint64_t last_in_queue) const noexcept;
  /// The finding is in the file.
  void agree(const finding& what) noexcept;
  /// The queue knows no numbers: it goes on behind what is known to be in it.
  void go_on() noexcept;

  void on_spooled(std::uint64_t count, std::uint64_t unsent_from) noexcept;
  /// Messages that were sent before may still be put late. Without them somebody else has put what we have not.
  bool is_unclear() const noexcept { return bound_ > put_; }
  void on_sent(std::uint64_t count) noexcept { bound_ = std::max(bound_, put_ + count); }
  /// What was sent before can not be done any more: the record of the producer has moved on.
  void on_put(std::uint64_t count) noexcept { bound_ = put_ += count; }
  void record_failure() noexcept { is_agreed_ = false; }

 private:
  std::uint64_t put_ = 0;
  std::uint64_t spooled_ = 0;
  std::int64_t base_ = 0;
  std::uint64_t bound_ = 0;  // none behind it can be in the queue
  std::uint64_t unsent_from_ = 0;
  bool is_agreed_ = false;
  bool was_agreed_ = false;
};

}  // namespace zkrecipes::detail
