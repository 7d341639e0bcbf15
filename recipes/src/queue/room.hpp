// How many items a queue may have.
#pragma once

#include <memory>

#include "queue/layout.hpp"
#include "session/turnstile.hpp"

namespace zkrecipes::detail {

/// A queue with a limit has a gate, a node that changes with every put. Whoever puts states the version that it had when
/// the items were counted: nobody else has put anything since, and takers can only have made more room. So the limit is
/// kept exactly, and as long as nobody else puts no counting is needed.
class room : public std::enable_shared_from_this<room> {
 public:
  explicit room(shared_frame frame) : frame_(std::move(frame)) {}

  bool has_limit() const noexcept { return frame_->options.limit != 0; }

  /// Until it ends the next put of this object waits.
  using pass = turnstile::pass;

  /// Waits for our turn, and sees that there is room. With a limit `some` may be lowered to what there is room for.
  /// Error: `full`.
  awaitable<outcome<pass>> enter(std::size_t& some, bool all_or_none);
  /// Adds the gate to a transaction: the last operation. Without a limit, nothing.
  void guard(transaction& all) const;
  /// What became of it.
  void put(const backend::reply& answer, std::size_t so_many);

 private:
  awaitable<error_code> count(std::size_t needed);
  awaitable<error_code> measure();
  awaitable<void> measure_later();
  void note_length(const backend::reply& there);
  bool is_overlong() const noexcept;

  shared_frame frame_;
  turnstile turns_{1};
  bool known_ = false;
  std::size_t items_ = 0;  // at most
  std::int32_t version_ = 0;
  std::size_t list_bytes_ = 0;
  std::size_t puts_left_ = 0;  // until the list is measured again
};

/// About what a server sends for a list of so many items.
std::size_t list_bytes(const queue_layout& where, std::size_t children);

}  // namespace zkrecipes::detail
