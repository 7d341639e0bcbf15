// One term of leadership, as the career sees it.
#pragma once

#include <cstdint>
#include <memory>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

namespace detail {
class term_state;
}

/// Why a term ends.
enum class term_end {
  resigned,    ///< By `resign` or `stop` of `consumer_coordinator`.
  revoked,     ///< On an operator's request.
  suspended,   ///< The connection broke, and the career does not work without a connection.
  lost,        ///< The session expired, the lease lapsed, or the node was removed.
  stalled,     ///< `inaugurate`, or the work of `execute`, took longer than `career_traits::stall_limit`.
  failed,      ///< The career threw an exception.
  superseded,  ///< The record is not ours any more: a newer term has begun, or somebody wrote other data.
};

const char* to_string(term_end reason) noexcept;

/// One term of leadership, as the career sees it. Copies share it.
///
/// Thread safety: safe.
class term {
 public:
  using executor_type = boost::asio::any_io_executor;

  term() noexcept =
      default;  ///< No term, like one that was moved from: it is ending, and operations complete with `closed`.
  explicit term(std::shared_ptr<detail::term_state> state) noexcept;

  std::int64_t epoch() const noexcept;  ///< 1, 2, 3 ... over the life of the election node.
  std::int64_t token() const noexcept;  ///< Fencing token for stores outside ZooKeeper.
  takeover how() const noexcept;
  session get_session() const noexcept;
  executor_type get_executor() const noexcept { return get_session().get_executor(); }

  /// True once the term is to end: finish the message in hand, and begin no other.
  bool ending() const noexcept;

  /// While the returned object exists, `execute` waits for work. That time does not count towards
  /// `career_traits::stall_limit`, which begins anew when the last such object is gone.
  [[nodiscard]] std::shared_ptr<void> idle() const;

  /// Until when nobody else begins a term even if we hear nothing more from the servers, under the conditions of
  /// docs/guarantees.md.
  lease_clock::time_point valid_until() const;

  /// The transaction with a check in front: it fails with `bad_version` once a newer term has begun, or once this term
  /// has written its record: another phase, or, by a `queue_consumer`, its figures at most once a second and the name
  /// of a message before each further attempt and on probation. `async_commit` tries again then, so prefer it in
  /// `process`. A message in hand can still be committed after the place in line is lost, until the successor takes
  /// over. If there is no term, it fails with `bad_arguments`, unsent.
  transaction fenced(transaction operations) const;

  /// Commits `fenced(operations)` and settles a lost reply, also in the next session. `operations` must contain at
  /// least one that can not succeed twice (a remove, a create without sequence, a set with version), because the
  /// transaction is sent again after a lost reply. A server that refuses (`server_error`: it throttles) is asked again
  /// with growing pauses.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `superseded` (a newer term has begun, or the record was overwritten: nothing was written, and the term
  /// ends), `outcome_unknown` (a reply was lost, and then the term was superseded, or the nodes do not tell, for
  /// example because somebody else changed them at the same time), and those of `session::async_commit`, except that a
  /// lost connection is waited for, for as long as `retry_policy::limit` says.
  /// Cancellation: all types; the transaction may have been committed.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write. After a lost reply one more to send it again, and one to look at the nodes if it
  /// is refused then. Two more if the record has moved on to another phase.
  template <token_for<> Token = default_token>
  auto async_commit(transaction operations, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_commit, state_, std::move(operations));
  }

  /// Completes when the term is to end, with the reason; at once if that is so already.
  ///
  /// Signature: `void(error_code, term_end)`.
  /// Errors: none but `operation_aborted`; `closed` if the object was moved from.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<term_end> Token = default_token>
  auto async_ending(Token&& token = Token()) {
    return detail::initiate<void(error_code, term_end)>(token, &start_ending, state_);
  }

  /// For the library; the type is not public.
  using state_ptr = std::shared_ptr<detail::term_state>;
  const state_ptr& get_state() const noexcept { return state_; }

 private:
  static void start_commit(detail::handler_for<void(error_code)>, state_ptr, transaction);
  static void start_ending(detail::handler_for<void(error_code, term_end)>, state_ptr);

  state_ptr state_;
};

}  // namespace zkrecipes
