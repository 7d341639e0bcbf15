// The capacity of a queue: whether more items can be put.
#pragma once

#include <memory>
#include <string_view>

#include "queue/queue_frame.hpp"
#include "queue/ticket_gate.hpp"
#include "session/turnstile.hpp"

namespace zkrecipes::detail {

/// Checks before each put that there is room: by the `ticket_gate` if the queue has a limit, by the length of the list
/// that a server would send, and by the numbers that are left for names.
class capacity : public std::enable_shared_from_this<capacity> {
 public:
  explicit capacity(shared_frame frame) : frame_(std::move(frame)), gate_(std::make_shared<ticket_gate>(frame_)) {}

  bool has_limit() const noexcept { return frame_->options.limit != 0; }

  /// While it exists, the next put of this object waits.
  using pass = turnstile::pass;

  /// Waits for our turn, and checks that there is room. With a limit `some` may be lowered to the number that there is
  /// room for. Errors: `full`, `sequence_exhausted`. Without an error `guard` and `settle` have to follow.
  awaitable<outcome<pass>> enter(std::size_t& some, bool all_or_none);
  /// Adds the operations of the tickets to the end of a transaction. Without a limit there are none.
  void guard(transaction& all);
  /// The result of the transaction: the answer's error, but for a lost reply `connection_loss` if it was surely not
  /// done, and `outcome_unknown` if it may have been done.
  awaitable<error_code> settle(const backend::reply& answer);
  /// To be called with the name of an item that was put: its number tells how many are left.
  void on_name(std::string_view name);

 private:
  awaitable<error_code> check_length(std::size_t some);
  void record_number(std::int32_t number);
  awaitable<error_code> measure_once();
  awaitable<error_code> measure();
  awaitable<void> measure_later();
  void record_length(const backend::reply& there);
  bool is_measured() const noexcept;
  bool is_overlong() const noexcept;

  shared_frame frame_;
  std::shared_ptr<ticket_gate> gate_;
  turnstile turns_{1};
  std::size_t waiting_ = 0;  // number of puts that wait for their turn
  turnstile measuring_{1};
  std::size_t measures_ = 0;
  bool has_measured_ = false;
  std::size_t list_bytes_ = 0;
  std::size_t puts_left_ = 0;  // puts until the list is measured again
  std::int32_t number_ = 0;    // sequence number of the last item, or of the next
  bool is_told_ = false;       // `on_unavailable_item` has been told that few numbers are left
};

/// About how many bytes a server sends for a list of so many items.
std::size_t list_bytes(const queue_layout& where, std::size_t children);

}  // namespace zkrecipes::detail
