// Tickets: how a limit on the number of items is kept among many that put.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queue/layout.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

/// Below the gate of a queue with a limit each item to be put has a ticket first: an ephemeral node with a number. The
/// transaction that creates the item removes its ticket, so a ticket puts one item at most.
///
/// Two stats, read in this order, tell how far the numbers may go. Of the gate: how many tickets there were ever (T;
/// the server's `cversion` counts what was created and what was removed) and how many there are (O). Of the items'
/// folder: how many items there are (I, or more). Where that leaves room for all tickets that are out, those with
/// a number below G = T + limit - I - O may put:
///
///   Let s be any moment, G the highest that a put up to s went by, and I read at t. What is there at s was there at t
///   (at most I), or was put since: by a ticket that was there when O was read (at most O), or by one with a number
///   from T up to, but not including, G (at most G - T). Together at most I + O + G - T = limit. Removals only make it
///   less.
///
/// Where there is less room the tickets are listed, and the first limit - I of them may put: G is the number of the
/// next.
///
/// So one look serves for as many tickets as there was room, whoever issues them; nobody has to be quicker than anybody
/// else; and the numbers are an order of arrival. What was read holds for the gate that it was read of: it is believed
/// while we have a ticket there, from before the look up to the put. Where the gate has been removed and made again the
/// ticket has gone, too, and the put fails. So a gate whose numbers are used up is removed as soon as nobody has a ticket
/// there, and the next ones are drawn at a new one.
class gate : public std::enable_shared_from_this<gate> {
 public:
  explicit gate(shared_frame frame)
      : frame_(std::move(frame)), path_(frame_->where.on_side(gate_name)) {}

  /// Gets tickets that may put; `some` is lowered to what there is room for. Error: `full` (with `all_or_none` also
  /// where there is room for a part). At most one operation at a time, up to `settle`.
  awaitable<error_code> admit(std::size_t& some, bool all_or_none);
  /// The tickets' part of the transaction, its last operations: they are removed, and, where puts follow each other and
  /// there is ample room, as many new ones are drawn for the next put. `is_next_here`: it waits already.
  void pass(transaction& all, bool is_next_here);
  /// What became of the transaction: the answer's error, but `connection_loss` where it was surely not done, and
  /// `outcome_unknown` where it may have been done.
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
  void note(const std::vector<backend::reply>& seen);
  std::int64_t reach_of(const backend::reply& tickets, std::int64_t places) const;
  std::size_t admitted() const;
  bool is_ample() const;
  std::string unnumbered(const std::string& guid) const;
  void take_up(const std::vector<operation_result>& made, std::size_t so_many);
  void forget_ended();
  void forsake(const std::string& guid);
  void give_back(std::size_t from);
  static awaitable<void> remove_all(core_ptr session, std::vector<std::string> paths, incarnation_ptr bound);
  awaitable<error_code> after_loss();
  awaitable<void> keep();

  shared_frame frame_;
  std::string path_;
  incarnation_ptr bound_;         // what the tickets belong to
  std::deque<ticket> held_;       // ours, in order; the first are in use by the put that is under way
  std::vector<std::string> forsaken_;  // GUIDs of tickets of ours that put nothing: they take nobody's place
  std::size_t in_use_ = 0;
  std::string next_guid_;         // of the tickets drawn by the put that is under way
  std::size_t next_ = 0;          // so many
  bool known_ = false;            // what follows was read while we had a ticket
  std::int64_t issued_ = 0;       // T
  std::int64_t below_ = 0;        // G
  std::size_t tickets_ = 0;       // O
  std::size_t children_ = 0;      // of the items' folder
  bool is_tight_ = false;         // the last one to come was refused
  back_off pauses_{std::chrono::milliseconds(20), std::chrono::milliseconds(1'000)};  // while the numbers begin anew
  bool is_busy_ = false;
  lease_clock::time_point busy_until_{};  // what a busy server refuses is tried again
  bool is_kept_ = false;
  lease_clock::time_point last_{};  // the end of the last put
};

}  // namespace zkrecipes::detail
