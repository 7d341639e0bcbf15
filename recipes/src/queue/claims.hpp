// Claims: an item is with one taker at a time, and it is known with whom, whatever happens to replies.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "queue/layout.hpp"
#include "queue/server_clock.hpp"

namespace zkrecipes::detail {

/// What became of an attempt to claim or remove an item. Errors: `node_exists` (somebody else has it), `no_node` (it
/// has gone), `busy` (it is too early for it), `session_expired` (nothing is claimed), ...
struct claim_result {
  error_code error;
  bool at_item = false;  ///< The error is the item's own fault: it can not be handed out.
  message item;
};

/// Of an item that was handed out, which time it was: it may have gone through this object before, in another session.
struct claim_id {
  explicit claim_id(const message& item) : name(item.name), zxid(item.stat.pzxid) {}

  std::string name;
  std::int64_t zxid;
};

class claims : public std::enable_shared_from_this<claims> {
 public:
  /// A claim on its way.
  struct attempt {
    entry what;
    std::string guid;
    incarnation_ptr bound;
    lease_clock::time_point sent;
    exchange_ptr claiming, reading, stamping;
  };

  claims(shared_frame frame, std::shared_ptr<server_clock> clock) : frame_(std::move(frame)), clock_(std::move(clock)) {}

  /// Needs a connection.
  attempt begin(entry what);
  awaitable<claim_result> finish(attempt which);
  /// Removes an item that has been read, and tells whether it was for us.
  awaitable<claim_result> remove(message item);

  bool has(const claim_id& which) const { return static_cast<bool>(bound_of(which)); }
  /// Removes an item of ours together with the effects. `is_once`: success means that it was this settlement, also
  /// where there are no effects; else that the item is done. Errors: `superseded` (surely not by this),
  /// `outcome_unknown` (the item has gone, and a reply was lost: perhaps by this), and those of the effects: then it is
  /// still ours.
  awaitable<error_code> settle(claim_id which, transaction effects, bool is_once = false);
  /// Gives up a claim on an item that was handed out.
  awaitable<error_code> release(claim_id which);
  /// The same of one that nobody was told of: the attempt does not count. The request is sent at once; the rest happens in
  /// the background.
  void take_back(const message& item);
  /// Reads an item of ours again. Error: `superseded`.
  awaitable<backend::reply> read_again(claim_id which);
  incarnation_ptr bound_of(const claim_id& which) const;

 private:
  /// One that may have been done. Its mark is in the claim if it was; a settlement without a mark removes the claim.
  struct settlement {
    std::string mark;
    transaction effects;
  };
  struct held {
    incarnation_ptr bound;
    std::string guid;
    std::int64_t zxid = 0;
    std::vector<settlement> open;
    std::string done;  // the mark of the one that was done, once it is known
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
  awaitable<void> see_what_became(claim_id which, std::string mark, incarnation_ptr bound);
  held_items::iterator find_ours(const claim_id& which);
  bool is_early(const attempt& which, const backend::reply& stamp);
  void forget_ended();

  shared_frame frame_;
  std::shared_ptr<server_clock> clock_;
  held_items ours_;
};

/// Which operation of a transaction failed; -1: none, or the whole request.
int failed_at(const backend::reply& answer);

/// How often an item has been handed out. Each claim makes a node below it and removes it again: the server counts that. A
/// claim that is taken back before anybody was told of the item writes its data once more, and the server counts that, too.
std::int32_t attempts_of(const stat& item);
/// What adds so many to that.
void count_attempts(transaction& all, const std::string& item, std::int32_t so_many);

}  // namespace zkrecipes::detail
