// The part that all queues share: everything but putting.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// An item that was handed out.
struct message {
  std::string name;  ///< The name of the node: unique in the queue, growing in order of arrival.
  std::string data;
  node_stat stat;
  /// How often the item has been handed out, this time included, also to takers that died of it. A claim that was taken
  /// back before the taker was told of the item does not count. The server keeps this number. From `async_next`: how
  /// often it was handed out before.
  std::int32_t attempts = 0;
  /// The key that it was put with, for a message of a topic. Empty for an item of a queue.
  std::string key{};
};

/// Where an item goes that is given back.
enum class return_to {
  place,  ///< Where it was: it is the next to be taken.
  end,    ///< Behind all others (of its priority), so that it does not keep them waiting. It gets a new name.
};

/// Settings of a queue.
struct queue_options {
  /// Most items in the queue, 1 or more; 0: no limit. There are never more if every producer of the queue states this
  /// limit (producers of other libraries do not know it). Puts go in order of arrival, by tickets. A ticket of another
  /// producer counts as an item until that producer has put its item or given the ticket back: at the latest a second
  /// after its last put, or with the end of its session. In a queue with more than 1 000 nodes, claims, producers'
  /// records and foreign nodes count as items, too, so `full` can come early by as many. A put costs one round trip
  /// where puts follow each other and there is ample room, else two.
  std::size_t limit = 0;
  /// An item that has been handed out this often and was not acknowledged is not handed out again: it becomes a dead
  /// letter. 0 to 100; 0: no limit.
  std::int32_t max_attempts = 0;
  /// Most bytes in the list of all names, which a server sends in one reply. Java clients can not read a queue with a
  /// longer list than their `jute.maxbuffer` (1 048 575 bytes by default), so a put fails with `full` before it comes
  /// to that. The length is looked at before the first put of an object (one more round trip) and then from time to
  /// time, so items that are put between two looks are not counted. It is not looked at where `limit` keeps the list
  /// well below it. 0: it is never looked at.
  std::size_t max_list_bytes = 1'000'000;
  /// Called once per object and item that can not be handed out because its rights or nodes below it forbid it: the
  /// item stays where it is, and the others go ahead. Also called once per object that puts, with `sequence_exhausted`
  /// and the queue's path, when nine tenths of the numbers for names are used up: move to another path then. (A node
  /// has 2^31 numbers; where claims stand beside the items, an item that is taken uses two.) A hook: see
  /// docs/operations.md.
  std::function<void(error_code why, const std::string& name)> on_unavailable_item{};
};

/// An item that is not handed out any more.
struct dead_letter {
  std::string name{};  ///< The name of the node among the dead letters.
  std::string item{};  ///< The name that it had in the queue.
  std::string data{};
  std::string reason{};  ///< At most 1 000 bytes.
  std::int32_t attempts = 0;
  std::int64_t since = 0;  ///< Milliseconds since 1970, by the server's clock.
  /// The key of a message that was not in a queue. In a queue with `spent_message::park_key`: its first 1 000 bytes.
  std::string key{};
  // These are 0 unless a queue consumer has parked the message.
  std::int64_t epoch = 0;  ///< The term that has parked it.
  /// When the first attempt of this term failed, in milliseconds since 1970. If attempts were counted before the term:
  /// when the item was written last before it, which is when the last of them was counted unless others write it.
  std::int64_t first_failed = 0;
  std::int64_t last_failed = 0;  ///< When the last attempt failed, by the clock of the consumer.
  /// So many bytes of the message were left out, because all of it would not have fit into a request
  /// (`session_options::jute_maxbuffer`): `data` ends early, and `key`, if it was longer, after 1 000 bytes. 0: the
  /// letter is whole. Always 0 for messages that are kept in ZooKeeper, those of queues and topics.
  std::uint64_t missing_bytes = 0;
};

/// A key whose messages a queue consumer parks: see `spent_message::park_key`.
struct parked_key {
  std::string name{};       ///< The name of the node that marks it.
  std::string key{};        ///< Its first 1 000 bytes. Empty, too, if the data of the node is not that of a mark.
  std::int64_t since = 0;   ///< Milliseconds since 1970, by the server's clock.
  std::size_t letters = 0;  ///< Its dead letters.
};

/// The state of a queue, as read at one moment.
struct queue_status {
  std::size_t items = 0;  ///< Claimed ones included.
  std::size_t claimed = 0;
  std::size_t dead = 0;        ///< Dead letters.
  std::size_t foreign = 0;     ///< Nodes under the path that are not of a queue: not handed out, and not touched.
  std::size_t list_bytes = 0;  ///< See `queue_options::max_list_bytes`.
  /// For how long the first item has been there (since it was given back, if it was given back to the end). Its
  /// beginning is by the clock of the ensemble's leader. The present is by that clock, too, if this object has learned
  /// it in the last minute, as takes from a delay queue do; else by the clock of this machine.
  std::chrono::milliseconds oldest{0};
};

namespace detail {

class queue_core;

/// The compiled part of the operations that all queues share: each starts a coroutine on the strand of the session.
struct queue_operations {
  template <class... Results>
  using handler = handler_for<void(error_code, Results...)>;
  using core_ptr = std::shared_ptr<queue_core>;
  static void take(handler<message>, core_ptr, lease_clock::duration);
  static void take_many(handler<std::vector<message>>, core_ptr, std::size_t, lease_clock::duration);
  static void pop(handler<message>, core_ptr, lease_clock::duration);
  static void acknowledge(handler<>, core_ptr, message, transaction);
  static void give_back(handler<>, core_ptr, message, return_to, std::string);
  static void reject(handler<>, core_ptr, message, std::string);
  static void size(handler<std::size_t>, core_ptr);
  static void status(handler<queue_status>, core_ptr);
  static void dead_letters(handler<std::vector<dead_letter>>, core_ptr);
  static void revive(handler<>, core_ptr, dead_letter);
  static void discard(handler<>, core_ptr, dead_letter);
  static void parked_keys(handler<std::vector<parked_key>>, core_ptr);
  static void revive_key(handler<std::size_t>, core_ptr, parked_key);
};

}  // namespace detail

/// Items wait in order, and several takers may take them. A claim, an ephemeral node beside the item, keeps the item
/// from other takers while it is worked on. The claim ends with the session of its taker.
///
/// At least once: `async_take`, then `async_acknowledge`, `async_return` or `async_reject`, each through the object
/// that took the item, or a copy of it. At most once: `async_pop`. Order: one taker gets the items in order, several
/// get them nearly in order (docs/recipes/queue.md has figures). Takers that wait stand in line: a put wakes the first
/// of them. Items that can not be handed out never keep the others waiting.
///
/// Thread safety: safe. Cancellation of every operation: all types; no claim of an item that was not handed out stays
/// behind (it is removed in the background for as long as the session lives). Errors of every operation: those of
/// `session`.
class queue_base {
  using operations = detail::queue_operations;

 public:
  using executor_type = boost::asio::any_io_executor;

  /// Claims the first item that no other taker has, and hands it out; waits for one if there is none. Creates the path
  /// if it is missing. The item stays in the queue, claimed, until it is settled, and can be taken again if our session
  /// ends. The wait goes on in the next session, and ends without a connection for `retry_policy::limit`.
  ///
  /// Signature: `void(error_code, message)`.
  /// Errors: `foreign_data` (another recipe uses the path, and nothing of a queue of this kind is there), `no_auth` (we
  /// may not list the items or create claims), `sequence_exhausted` (of the line of takers that wait), and those of
  /// `session`.
  /// Cancellation: all types; an item that was claimed goes back to the queue. The claim does not count as an attempt,
  /// unless our session ends before it is removed.
  /// Thread safety: as the class says; `queue_options::on_unavailable_item` is called on the strand of the session.
  /// Cost: 1 round trip, 2 requests (the claim and the item) while the list lasts; the next list travels along. The
  /// first of an object 1 more for the list. A taker that waits first in line: an event, the list, the claim. A delay
  /// queue: 3 requests, and 1 round trip more about once a minute for the leader's time.
  template <token_for<message> Token = default_token>
  auto async_take(Token&& token = Token()) {
    return async_take_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_take`, with one budget of time for everything: connecting, waiting, claiming.
  ///
  /// Signature: `void(error_code, message)`.
  /// Errors: `timed_out`, and those of `async_take`.
  /// Cancellation: as `async_take`; the same happens at the end of the budget.
  /// Thread safety: as `async_take`.
  /// Cost: as `async_take`.
  template <token_for<message> Token = default_token>
  auto async_take_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, message)>(token, &operations::take, core_, budget);
  }

  /// As `async_take`, for up to `most` items, 1 to 1 000. It waits for the first item only, and completes with 1 or
  /// more.
  ///
  /// Signature: `void(error_code, std::vector<message>)`.
  /// Errors: as `async_take`; `bad_arguments` (`most` is out of bounds).
  /// Cancellation: as `async_take`, for all items that were claimed.
  /// Thread safety: as `async_take`.
  /// Cost: 1 round trip for all items, 2 requests each (of a delay queue 3); lists and waiting as `async_take`.
  template <token_for<std::vector<message>> Token = default_token>
  auto async_take_many(std::size_t most, Token&& token = Token()) {
    return async_take_many_for(most, lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_take_many`, with one budget of time for everything.
  ///
  /// Signature: `void(error_code, std::vector<message>)`.
  /// Errors: `timed_out` (no item was claimed), and those of `async_take_many`.
  /// Cancellation: as `async_take_many`; the same happens at the end of the budget.
  /// Thread safety: as `async_take`.
  /// Cost: as `async_take_many`.
  template <token_for<std::vector<message>> Token = default_token>
  auto async_take_many_for(std::size_t most, time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<message>)>(token, &operations::take_many, core_, most, budget);
  }

  /// Removes the first item that no other taker has, and hands it out; waits for one if there is none. The item does
  /// not come back, whatever becomes of the caller.
  ///
  /// Signature: `void(error_code, message)`.
  /// Errors: `outcome_unknown` (a reply was lost, then our session ended or our claim was removed by hand, and the item
  /// has gone: it may have been for us; the message is that item), and those of `async_take`.
  /// Cancellation: all types; an item that is being removed at that moment may be lost. The message says which.
  /// Thread safety: as `async_take`.
  /// Cost: 1 round trip: the item was read along with the pop before. 2 where it was not, such as for the first item,
  /// and in a delay queue (the claim, the removal). Lists and waiting as `async_take`; the claim is removed in the
  /// background.
  template <token_for<message> Token = default_token>
  auto async_pop(Token&& token = Token()) {
    return async_pop_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_pop`, with one budget of time for everything.
  ///
  /// Signature: `void(error_code, message)`.
  /// Errors: `timed_out`, and those of `async_pop`.
  /// Cancellation: as `async_pop`; the same happens at the end of the budget.
  /// Thread safety: as `async_take`.
  /// Cost: as `async_pop`.
  template <token_for<message> Token = default_token>
  auto async_pop_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, message)>(token, &operations::pop, core_, budget);
  }

  /// The item is done: removes the item and its claim. The second overload takes `effects`, which happen in the same
  /// transaction: together with the acknowledgement or not at all, and thus once. Success with effects means that these
  /// effects have happened. Success without effects means that the item has gone: by this, or by another settlement of
  /// it that was under way.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `superseded` (the item is not ours any more: our session ended in between, and another taker may have it;
  /// these effects have not happened), `outcome_unknown` (a reply was lost, then our session ended, an operator removed
  /// our claim or another settlement of the same item was under way, and the item has gone: perhaps by this),
  /// `not_empty` (there are nodes below the item), `no_auth` and what else keeps the item or the effects from being
  /// written: then the item is still ours; and those of `session`.
  /// Cancellation: all types; the item may have been removed, with the effects. The acknowledgement may be repeated:
  /// with the same effects it is told what became of the first; with others it gets `superseded` if the first was done.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request; with effects 1 more in the background (the claim).
  template <token_for<> Token = default_token>
  auto async_acknowledge(message item, Token&& token = Token()) {
    return async_acknowledge(std::move(item), transaction(), std::forward<Token>(token));
  }
  template <token_for<> Token = default_token>
  auto async_acknowledge(message item, transaction effects, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &operations::acknowledge, core_, std::move(item),
                                              std::move(effects));
  }

  /// The item is not done: any taker may take it again. The first overload returns it in place. In the second `where`
  /// tells the place, and `reason` (its first 1 000 bytes) is for the dead letter that the item becomes instead if it
  /// has been handed out `max_attempts` times. At the end the item gets a new name and keeps its attempts (at most
  /// 100).
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `superseded`; in place also `no_auth` (we may not remove the claim), `closed` and `auth_failed`: the claim
  /// ends with our session at the latest; to the end also `sequence_exhausted` (as a put; the item is still ours); to
  /// the end and as a dead letter those of `async_reject`.
  /// Cancellation: all types. A return in place is done all the same, in the background; otherwise as `async_reject`.
  /// Thread safety: as the class says.
  /// Cost: in place 1 round trip, 1 request, none without a connection: the claim is removed in the background then; to
  /// the end 2 round trips, 3 requests, and the claim in the background; as a dead letter as `async_reject`.
  template <token_for<> Token = default_token>
  auto async_return(message item, Token&& token = Token()) {
    return async_return(std::move(item), return_to::place, std::string(), std::forward<Token>(token));
  }
  template <token_for<> Token = default_token>
  auto async_return(message item, return_to where, std::string reason, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &operations::give_back, core_, std::move(item), where,
                                              std::move(reason));
  }

  /// The item will never be done: it becomes a dead letter, with its data as it stands in the queue and the first 1 000
  /// bytes of `reason`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `superseded`, `outcome_unknown` (as `async_acknowledge`); `not_empty` (there are nodes below the item),
  /// `no_auth`: then the item is still ours; and those of `session`.
  /// Cancellation: all types; the item may have become a dead letter, else it is still ours.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 2 requests, and 1 more in the background (the claim); the first dead letter of a queue 5
  /// round trips.
  template <token_for<> Token = default_token>
  auto async_reject(message item, std::string reason, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &operations::reject, core_, std::move(item), std::move(reason));
  }

  /// Counts the items, claimed ones included, as our server shows them.
  ///
  /// Signature: `void(error_code, std::size_t)`.
  /// Errors: `no_node` (there is no queue yet), `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request, whose reply has the names of all nodes under the path.
  template <token_for<std::size_t> Token = default_token>
  auto async_size(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::size_t)>(token, &operations::size, core_);
  }

  /// Reads the figures that an operator needs, and writes nothing: a client that may only read can ask. If one of the
  /// figures can not be read, it completes with that error.
  ///
  /// Signature: `void(error_code, queue_status)`.
  /// Errors: `no_node` (there is no queue yet), `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 3 round trips: the items, the dead letters, the first item. Without items 2. A priority queue 1 more.
  template <token_for<queue_status> Token = default_token>
  auto async_status(Token&& token = Token()) {
    return detail::initiate<void(error_code, queue_status)>(token, &operations::status, core_);
  }

  /// Reads all dead letters, oldest first. With an error the letters are those that were read before it.
  ///
  /// Signature: `void(error_code, std::vector<dead_letter>)`.
  /// Errors: `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred letters; 1 request, and 1 for each letter.
  template <token_for<std::vector<dead_letter>> Token = default_token>
  auto async_dead_letters(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<dead_letter>)>(token, &operations::dead_letters, core_);
  }

  /// Puts a dead letter back at the end of the queue (of its priority), with no attempts counted: a put like any other.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `full` (see `queue_options`; it stays a dead letter), `no_node` (the letter is not there any more),
  /// `outcome_unknown` (a reply was lost, and the letter has gone: by us, or by another client that revived or
  /// discarded it in that moment), `bad_arguments` (`which` is no letter of a queue of this kind, or its key is parked:
  /// see `async_revive_key`), `sequence_exhausted` (as a put), `no_auth`, and those of `session`.
  /// Cancellation: all types; the letter may have been put back. With a `limit` our tickets are removed in the
  /// background.
  /// Thread safety: as the class says.
  /// Cost: as a put; after a lost reply 1 round trip more, for a letter with a key another one.
  template <token_for<> Token = default_token>
  auto async_revive(dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &operations::revive, core_, std::move(which));
  }

  /// Removes a dead letter for good.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node`, `outcome_unknown` (as `async_revive`), `bad_arguments` (a name with a slash), `no_auth`, and
  /// those of `session`.
  /// Cancellation: all types; the letter may have been removed.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<> Token = default_token>
  auto async_discard(dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &operations::discard, core_, std::move(which));
  }

  /// Reads which keys are parked (`spent_message::park_key`), the oldest first. With an error the keys are those that
  /// were read before it, in any order.
  ///
  /// Signature: `void(error_code, std::vector<parked_key>)`.
  /// Errors: `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred keys; 2 requests, and 1 for each key. A reply has the names of all dead
  /// letters.
  template <token_for<std::vector<parked_key>> Token = default_token>
  auto async_parked_keys(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<parked_key>)>(token, &operations::parked_keys, core_);
  }

  /// Ends the parking of a key: puts all its dead letters back, in order, each under the name that it had and so in its
  /// old place, with no attempts counted. The consumer goes on with the key when all of them are back. To leave a
  /// message out, discard its letter before. Completes with the number of messages that were put back; it can be 0, and
  /// too high if another client revives the key at the same time and replies are lost.
  ///
  /// After an error, or if it was cancelled, a part may have been put back: until the operation is called again and
  /// completes, a consumer with order by key neither processes nor parks messages of the key. A second call does no
  /// harm, also at the same time.
  ///
  /// Signature: `void(error_code, std::size_t)`.
  /// Errors: `no_node` (the key is not parked, or not any more: another client has put the rest back), `full` (the
  /// queue has no room for all the letters: see `queue_options`; nothing was done. The room is looked at once, in the
  /// beginning, so producers that put meanwhile can make the queue longer than its limit), `node_exists` (the queue was
  /// removed since the key was parked, so its names begin anew: put the data of the letters as new items, discard them,
  /// and then revive the key), `bad_arguments` (`which` names no mark), `no_auth`, and those of `session`.
  /// Cancellation: all types; see above.
  /// Thread safety: as the class says.
  /// Cost: 6 round trips, and 3 for each hundred letters or 256 KiB. The list of all items is read once, that of all
  /// dead letters twice and once more for each part.
  template <token_for<std::size_t> Token = default_token>
  auto async_revive_key(parked_key which, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::size_t)>(token, &operations::revive_key, core_, std::move(which));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const queue_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::queue_core>;
  const core_ptr& get_queue() const noexcept { return core_; }

 protected:
  queue_base() = default;
  queue_base(session over, core_ptr core);
  ~queue_base() = default;
  queue_base(const queue_base&) = default;
  queue_base(queue_base&&) = default;
  queue_base& operator=(const queue_base&) = default;
  queue_base& operator=(queue_base&&) = default;

 private:
  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
