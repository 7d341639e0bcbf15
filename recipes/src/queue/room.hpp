// How many items a queue may have.
#pragma once

#include <memory>
#include <string_view>

#include "queue/gate.hpp"
#include "session/turnstile.hpp"

namespace zkrecipes::detail {

/// Sees before each put that there is room: by the `gate` of a queue with a limit, by the length of the list that a
/// server would send, and by the numbers that are left for names.
class room : public std::enable_shared_from_this<room> {
 public:
  explicit room(shared_frame frame) : frame_(std::move(frame)), gate_(std::make_shared<gate>(frame_)) {}

  bool has_limit() const noexcept { return frame_->options.limit != 0; }

  /// Until it ends the next put of this object waits.
  using pass = turnstile::pass;

  /// Waits for our turn, and sees that there is room. With a limit `some` may be lowered to what there is room for.
  /// Error: `full`. Then `guard` and `settle` have to follow.
  awaitable<outcome<pass>> enter(std::size_t& some, bool all_or_none);
  /// Adds what keeps the limit to a transaction: the last operations. Without a limit, nothing.
  void guard(transaction& all);
  /// What became of it: the answer's error, but for a lost reply `connection_loss` if it was surely not done, and
  /// `outcome_unknown` if it may have been done.
  awaitable<error_code> settle(const backend::reply& answer);
  /// An item was put under this name.
  void note_name(std::string_view name);

 private:
  awaitable<error_code> see_length(std::size_t some);
  void note_number(std::int32_t number);
  awaitable<error_code> measure_once();
  awaitable<error_code> measure();
  awaitable<void> measure_later();
  void note_length(const backend::reply& there);
  bool is_measured() const noexcept;
  bool is_overlong() const noexcept;

  shared_frame frame_;
  std::shared_ptr<gate> gate_;
  turnstile turns_{1};
  std::size_t waiting_ = 0;  // for their turn
  turnstile measuring_{1};
  std::size_t measures_ = 0;
  bool has_measured_ = false;
  std::size_t list_bytes_ = 0;
  std::size_t puts_left_ = 0;  // until the list is measured again
  std::int32_t number_ = 0;    // of the last item, or the next
  bool is_told_ = false;       // that there are not many left
};

/// About what a server sends for a list of so many items.
std::size_t list_bytes(const queue_layout& where, std::size_t children);

}  // namespace zkrecipes::detail
