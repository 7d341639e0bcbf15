// What the queues have in common: everything but putting.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/queue_types.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class queue_core;
}

/// Items wait in order; several may take them. A claim, an ephemeral node beside the item, keeps it from others while
/// it is worked on; it ends with the session of whoever took it.
///
/// At least once: `async_take`, then `async_acknowledge`, `async_return` or `async_reject`. At most once: `async_pop`.
/// Order: one taker gets the items in order, several nearly so (docs/recipes/queue.md says how nearly). Takers that wait
/// stand in line: a put wakes the first of them. Items that can not be handed out never keep the others waiting.
///
/// Thread safety: safe. Cancellation of every operation: all types; no claim of ours stays behind (it is removed in the
/// background for as long as the session lives). Errors of every operation: those of `session`.
class queue_base {
 public:
  /// Takes the first item that nobody else has taken, waiting for one: one round trip while there are some. The item
  /// stays in the queue, claimed, until it is acknowledged, and comes back if our session ends.
  /// Signature: void(error_code, message). Error: `foreign_data` (another recipe is using the path, and nothing of a
  /// queue of this kind is there; so also of the two that follow).
  template <class Token>
  auto async_take(Token&& token) {
    return detail::initiate<void(error_code, message)>(token, &start_take, core_);
  }

  /// The same for up to `most` items, in one round trip; waits for the first only. Completes with 1 or more.
  /// Signature: void(error_code, std::vector<message>). Error: `bad_arguments` (`most` is not 1 to 1 000).
  template <class Token>
  auto async_take_many(std::size_t most, Token&& token) {
    return detail::initiate<void(error_code, std::vector<message>)>(token, &start_take_many, core_, most);
  }

  /// Removes the first item that nobody else has taken, and hands it out: one round trip. What happens to it then is
  /// the caller's affair: it does not come back. Signature: void(error_code, message).
  /// Error: `outcome_unknown` (a reply was lost, our session ended or our claim was removed by hand, and the item has
  /// gone: it may have been for us; the message is that item). Cancellation: an item that is being removed at that
  /// moment may be lost; the message says which.
  template <class Token>
  auto async_pop(Token&& token) {
    return detail::initiate<void(error_code, message)>(token, &start_pop, core_);
  }

  /// The item is done: removes it and its claim, in one round trip. `effects` happen in the same transaction: together
  /// with the acknowledgement or not at all, and thus once. Success means that these effects have happened; without
  /// effects, that the item has gone: by this, or by another settlement of it that was under way. One that was given up
  /// (cancelled) may be repeated: with the same effects it is told what became of the first; with others, `superseded` if
  /// the first was done.
  /// Errors: `superseded` (it is not ours any more: our session ended in between, and somebody else may have it; these
  /// effects have not happened), `outcome_unknown` (a reply was lost, then our session ended, an operator removed our
  /// claim or another settlement of the same item was under way, and the item has gone: perhaps by this), and what keeps
  /// the effects from happening: then it is still ours.
  template <class Token>
  auto async_acknowledge(message item, Token&& token) {
    return async_acknowledge(std::move(item), transaction(), std::forward<Token>(token));
  }
  template <class Token>
  auto async_acknowledge(message item, transaction effects, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_acknowledge, core_, std::move(item), std::move(effects));
  }

  /// The item is not done: it is to be taken again, by anybody. If it has been handed out `most_attempts` times it
  /// becomes a dead letter instead, with this reason. To the end: two round trips, and as `async_reject` for errors.
  /// Errors: `superseded`, `sequence_exhausted` (to the end: as a put; then it is still ours).
  template <class Token>
  auto async_return(message item, Token&& token) {
    return async_return(std::move(item), return_to::place, std::string(), std::forward<Token>(token));
  }
  template <class Token>
  auto async_return(message item, return_to where, std::string reason, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_return, core_, std::move(item), where, std::move(reason));
  }

  /// The item will never be done: it becomes a dead letter, as it stands in the queue. Two round trips.
  /// Errors: `superseded`, `outcome_unknown` as of `async_acknowledge`; `not_empty` (somebody made nodes below it),
  /// `no_auth`: then it is still ours.
  template <class Token>
  auto async_reject(message item, std::string reason, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_reject, core_, std::move(item), std::move(reason));
  }

  /// Number of items, claimed ones included. Error: `no_node`.
  template <class Token>
  auto async_size(Token&& token) {
    return detail::initiate<void(error_code, std::size_t)>(token, &start_size, core_);
  }

  /// What an operator wants to know, or nothing. It writes one small node, to learn the leader's time. Errors:
  /// `no_node`, `no_auth`.
  template <class Token>
  auto async_status(Token&& token) {
    return detail::initiate<void(error_code, queue_status)>(token, &start_status, core_);
  }

  /// All dead letters, oldest first: one round trip, and one for each hundred. Signature: void(error_code,
  /// std::vector<dead_letter>). With an error (such as `no_auth`) the letters are those read before it.
  template <class Token>
  auto async_dead_letters(Token&& token) {
    return detail::initiate<void(error_code, std::vector<dead_letter>)>(token, &start_dead_letters, core_);
  }

  /// Puts a dead letter back at the end of the queue (of its priority), with no attempts counted: a put like any other.
  /// Errors: `full` (see `queue_options`; it stays a dead letter), `no_node` (it is not there any more),
  /// `outcome_unknown` (a reply was lost, and it has gone: by us, or by somebody else who revived or discarded it in
  /// that moment).
  template <class Token>
  auto async_revive(dead_letter which, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_revive, core_, std::move(which));
  }

  /// Removes a dead letter for good. Errors: as `async_revive`.
  template <class Token>
  auto async_discard(dead_letter which, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_discard, core_, std::move(which));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const queue_options& options() const noexcept;

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::queue_core>;
  const core_ptr& get_queue() const noexcept { return core_; }

 protected:
  queue_base(session over, core_ptr core);
  ~queue_base() = default;
  queue_base(const queue_base&) = default;
  queue_base(queue_base&&) = default;
  queue_base& operator=(const queue_base&) = default;
  queue_base& operator=(queue_base&&) = default;

 private:
  template <class... Results>
  using handler = detail::handler_for<void(error_code, Results...)>;
  static void start_take(handler<message>, core_ptr);
  static void start_take_many(handler<std::vector<message>>, core_ptr, std::size_t);
  static void start_pop(handler<message>, core_ptr);
  static void start_acknowledge(handler<>, core_ptr, message, transaction);
  static void start_return(handler<>, core_ptr, message, return_to, std::string);
  static void start_reject(handler<>, core_ptr, message, std::string);
  static void start_size(handler<std::size_t>, core_ptr);
  static void start_status(handler<queue_status>, core_ptr);
  static void start_dead_letters(handler<std::vector<dead_letter>>, core_ptr);
  static void start_revive(handler<>, core_ptr, dead_letter);
  static void start_discard(handler<>, core_ptr, dead_letter);

  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
