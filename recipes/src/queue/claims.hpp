// Claims: an item is with one taker at a time, and it is known with whom, whatever happens to replies.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "queue/layout.hpp"
#include "queue/server_clock.hpp"

namespace zkrecipes::detail {

/// What became of an attempt to claim or remove an item. Errors: `node_exists` (somebody else has it), `no_node` (it has
/// gone), `busy` (it is too early for it), `session_expired` (nothing is claimed), ...
struct claim_result {
  error_code error;
  bool at_item = false;  ///< The error is the item's own fault: it can not be handed out.
  message item;
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

  bool has(const std::string& name) const { return ours_.contains(name); }
  /// Removes an item of ours and its claim, together with the rest. Errors: `superseded`, and those of the rest.
  awaitable<error_code> settle(std::string name, transaction rest);
  /// Gives a claim up.
  awaitable<error_code> release(std::string name);
  /// The same in the background.
  void give_up(const std::string& name);
  /// Reads an item of ours again. Error: `superseded`.
  awaitable<backend::reply> read_again(std::string name);
  incarnation_ptr bound_of(const std::string& name) const;

 private:
  struct held {
    incarnation_ptr bound;
    std::string guid;
    bool maybe_settled = false;
  };

  awaitable<error_code> find(std::string name, std::string guid, incarnation_ptr bound);
  awaitable<error_code> is_claimed(attempt& which, bool& at_item);
  void abandon(const std::string& name, const std::string& guid, const incarnation_ptr& bound);
  awaitable<void> remove_claim(std::string name, std::string guid, incarnation_ptr bound);
  bool is_early(const attempt& which, const backend::reply& stamp);
  void forget_ended();

  shared_frame frame_;
  std::shared_ptr<server_clock> clock_;
  std::map<std::string, held> ours_;
};

/// How often an item has been claimed. Each claim makes a node below it and removes it again: the server counts.
std::int32_t attempts_of(const stat& item);
/// What adds so many to that.
void count_attempts(transaction& all, const std::string& item, std::int32_t so_many);

}  // namespace zkrecipes::detail
