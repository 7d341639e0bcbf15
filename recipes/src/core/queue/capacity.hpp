// The capacity of a queue: whether more items can be put.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queue/queue_layout.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// Tickets keep the limit on the number of items while many clients put at once.
/// In a queue with a limit each item needs a ticket before it is put: an ephemeral sequential node below the gate. The
/// transaction that creates the item removes its ticket, so a ticket puts one item at most.
///
/// Two stats, read in this order, tell which tickets may put. The gate's stat tells how many tickets were ever created
/// (T; the server's `cversion` counts creations and removals) and how many there are now (O). The stat of the items'
/// folder tells how many items there are (I, or more). If that leaves room for all tickets that are out, tickets with a
/// number below G = T + limit - I - O may put. The proof:
///
///   Let s be any moment, G the highest that was used for a put up to s, and t the moment when I was read. Each item
///   that is there at s was there at t (at most I), or was put since: by a ticket that was there when O was read (at
///   most O), or by one with a number from T up to, but not including, G (at most G - T). Together these are at most
///   I + O + G - T = limit. Removals only make the number smaller.
///
/// If there is less room, the tickets are listed, and the first limit - I of them may put: G is then the number of the
/// next ticket.
///
/// So one look serves as many tickets as there was room for, whichever client drew them. No client has to be quicker
/// than another, and the numbers are an order of arrival. A look holds only for the gate that it read, so it is used
/// only while we have a ticket there, from before the look up to the put. If the gate was removed and created again,
/// that ticket has gone, and the put fails. So a gate whose numbers are used up is removed as soon as other clients
/// have no tickets there, and the next tickets are drawn at a new gate.
class ticket_gate : public std::enable_shared_from_this<ticket_gate> {
 public:
  explicit ticket_gate(shared_frame frame) : frame_(std::move(frame)), path_(frame_->where.on_side(gate_name)) {}

  /// Gets tickets that may put; `some` is lowered to the number that there is room for. Error: `full` (with
  /// `all_or_none` also if there is room for only a part). Only one operation at a time, from `admit` to `settle`.
  awaitable<error_code> admit(std::size_t& some, bool all_or_none);
  /// Adds the last operations of the transaction: they remove the tickets in use and, if puts follow each other and
  /// there is ample room, draw as many new ones for the next put. `is_next_here`: the next put is already waiting.
  void pass(transaction& all, bool is_next_here);
  /// The result of the transaction: the answer's error, but `connection_loss` if it was surely not done, and
  /// `outcome_unknown` if it may have been done.
  awaitable<error_code> settle(const backend::reply& answer);

 private:
  struct ticket {
    std::string path;
    std::int64_t number = 0;
  };
  enum class look { plain, close };

  awaitable<error_code> admit_once(std::size_t some);
  awaitable<error_code> draw(std::size_t so_many);
  bool are_used_up() const;
  awaitable<error_code> renew();
  awaitable<error_code> prepare();
  awaitable<error_code> look_at(look how);
  std::vector<backend::request> look_requests(look how) const;
  void update(const std::vector<backend::reply>& seen);
  std::int64_t reach_of(const backend::reply& tickets, std::int64_t places) const;
  std::size_t admitted() const;
  bool is_ample() const;
  std::string unnumbered(const std::string& guid) const;
  void take_up(const std::vector<operation_result>& made, std::size_t so_many);
  void forget_ended();
  void abandon(const std::string& guid);
  void give_back(std::size_t from);
  static awaitable<void> remove_all(core_ptr session, std::vector<std::string> paths, incarnation_ptr bound);
  awaitable<error_code> after_loss();
  awaitable<void> keep();

  shared_frame frame_;
  std::string path_;
  incarnation_ptr bound_;               // the session that the tickets belong to
  std::deque<ticket> held_;             // our tickets, in order; the put in progress uses the first `in_use_`
  std::vector<std::string> abandoned_;  // GUIDs of tickets of ours that are never used: they take no room
  std::size_t in_use_ = 0;
  std::string next_guid_;     // of the tickets that the put in progress draws for the next one
  std::size_t next_ = 0;      // how many these are
  bool known_ = false;        // the next four values were read while we had a ticket
  std::int64_t issued_ = 0;   // T
  std::int64_t below_ = 0;    // G
  std::size_t tickets_ = 0;   // O
  std::size_t children_ = 0;  // number of nodes in the items' folder
  bool is_tight_ = false;     // the last put was refused, at least in part
  back_off pauses_{std::chrono::milliseconds(20), std::chrono::milliseconds(1'000)};  // between tries to `renew`
  bool is_busy_ = false;
  lease_clock::time_point busy_until_{};  // until then a throttled request is sent again
  bool is_kept_ = false;
  lease_clock::time_point last_{};  // the end of the last put
};

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
