// A claim gives an item to one taker at a time. The claim node tells which taker, also after a lost reply.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/queue_base.hpp>

#include "queue/queue_layout.hpp"

namespace zkrecipes::detail {

/// Identifies one hand-out of an item, because the same object may have handed the item out before, in another session.
struct claim_id {
  explicit claim_id(const message& item) : name(item.name), zxid(item.stat.pzxid) {}

  std::string name;
  std::int64_t zxid;
};

/// The result of an attempt to claim or remove an item. Errors: `node_exists` (another taker has it), `no_node` (it has
/// gone), `busy` (it is delayed, and its time has not come), `session_expired` (nothing is claimed), ...
struct claim_result {
  error_code error;
  bool at_item = false;  ///< The error is due to the item (its rights, nodes below it): it can not be handed out.
  message item;
};

class claims : public std::enable_shared_from_this<claims> {
 public:
  /// A claim whose requests are in flight.
  struct attempt {
    entry what;
    std::string guid;
    incarnation_ptr bound;
    lease_clock::time_point sent;
    exchange_ptr claiming, reading, stamping;
  };

  claims(shared_frame frame, std::shared_ptr<server_clock> clock)
      : frame_(std::move(frame)), clock_(std::move(clock)) {}

  /// Sends the requests of a claim. Needs a connection.
  attempt begin(entry what);
  /// An exception leaves the attempt open: `abandon` it.
  awaitable<claim_result> finish(attempt& which);
  /// Gives up an attempt that will not be finished.
  void abandon(const attempt& which);
  /// Removes an item that has been read, for a pop. Without an error the item is ours to hand out.
  awaitable<claim_result> remove(message item);

  /// Whether an item of this name was handed out here, and its claim has not been settled or lost.
  bool holds(const std::string& name) const;
  bool has(const claim_id& which) const { return static_cast<bool>(bound_of(which)); }
  /// Removes an item of ours in one transaction with the effects. If there are effects, or with `is_once`, success
  /// means that this settlement was done, or an earlier one with the same effects; else only that the item is done.
  /// Errors: `superseded` (this settlement was surely not done), `outcome_unknown` (the item has gone, and a reply was
  /// lost: perhaps this settlement was done), and those of the effects: then the item is still ours.
  awaitable<error_code> settle(claim_id which, transaction effects, bool is_once = false);
  /// Gives up a claim on an item that was handed out. If the reply is lost or the server is too busy, the claim is
  /// removed in the background, without an error. Errors: `superseded`, and why it is not known to be removed: then its
  /// removal goes on in the background, too.
  awaitable<error_code> release(claim_id which);
  /// The same for an item that was not handed out to anybody: the attempt does not count. The first request is sent at
  /// once; the rest happens in the background.
  void take_back(const message& item);
  /// Reads an item of ours again. Error: `superseded`.
  awaitable<backend::reply> read_again(claim_id which);
  incarnation_ptr bound_of(const claim_id& which) const;

 private:
  /// A settlement that may have been done. If it was, its mark is in the claim node; a settlement without a mark
  /// removes the claim node instead.
  struct settlement {
    std::string mark;
    transaction effects;
  };
  struct held {
    incarnation_ptr bound;
    std::string guid;
    std::int64_t zxid = 0;
    std::vector<settlement> open;
    std::string done;  // the mark of the settlement that was done, once that is known
  };
  using held_items = std::map<std::string, held>;

  static awaitable<error_code> find(core_ptr over, std::string path, std::string guid, incarnation_ptr bound);
  awaitable<backend::reply> read_surely(exchange_ptr asked, backend::request look, incarnation_ptr bound);
  awaitable<error_code> is_claimed(attempt& which, bool& at_item);
  /// A claim to be removed, and whether its attempt stays counted.
  struct ending {
    std::string name;
    std::string guid;
    incarnation_ptr bound;
    bool counts = false;
  };
  void abandon(ending which, exchange_ptr first_try = nullptr);
  static awaitable<void> remove_claim(shared_frame frame, ending which, exchange_ptr first_try);
  transaction removal_of(const std::string& name, const std::string& mark) const;
  std::string mark_of(const held& item, const transaction& effects) const;
  awaitable<error_code> judge_unheld(claim_id which, std::string mark, incarnation_ptr bound);
  awaitable<error_code> judge_by_item(claim_id which);
  awaitable<error_code> judge(claim_id which, std::string mark);
  void clear_up(claim_id which, std::string mark, incarnation_ptr bound);
  awaitable<void> check_settlement(claim_id which, std::string mark, incarnation_ptr bound);
  held_items::iterator find_ours(const claim_id& which);
  bool is_early(const attempt& which, const backend::reply& stamp);
  void forget_ended();

  shared_frame frame_;
  std::shared_ptr<server_clock> clock_;
  held_items ours_;
};

}  // namespace zkrecipes::detail
