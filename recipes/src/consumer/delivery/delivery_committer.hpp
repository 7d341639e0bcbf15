// Settles the messages that are finished: one commit at a time, in which everything that was finished meanwhile
// travels.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "career/term_state.hpp"
#include "delivery/circuit_breaker.hpp"
#include "delivery/delivery_batch.hpp"
#include "delivery/delivery_figures.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_log.hpp"
#include "delivery/delivery_repeats.hpp"
#include "delivery/delivery_window.hpp"
#include "delivery/parked_keys.hpp"
#include "delivery/probation.hpp"

namespace zkrecipes::detail {

class delivery_committer {
 public:
  /// All of these outlive it.
  delivery_committer(term_ptr term, delivery_frame& frame, delivery_window& window, circuit_breaker& breaker,
                     probation& watch, parked_keys& parked, delivery_repeats& repeats, delivery_log& log);

  /// Whether there is something to write. On the strand, like everything here.
  bool has_work();
  const delivery_figures& figures() const noexcept { return figures_; }
  /// Settles a batch. Without an error the messages have moved on. Errors: those of `term_state::settle` that concern
  /// more than one message; `career_failed` (a message is spent, and the options say that the run ends then: see
  /// `spent_reason`).
  awaitable<error_code> commit();

  const std::string& spent_reason() const noexcept { return spent_reason_; }

 private:
  using member = delivery_batch::member;

  awaitable<error_code> compose(delivery_batch& batch);
  transaction for_all(const std::vector<settlement>& settlements);
  member judge(message_in_hand& whose);
  consumer_notes notes_of(const delivery_batch& batch) const;
  void conclude(const member& each);
  void count_failure(message_in_hand& whose);
  awaitable<error_code> answer_refusal(const delivery_batch& batch, term_state::commit_result refusal);
  awaitable<error_code> answer_culprit(const delivery_batch& batch, const member& culprit, error_code why,
                                       std::optional<std::size_t> place);
  awaitable<error_code> answer_common(std::size_t operation, error_code why);
  bool shrink_letter(const member& culprit);
  void refuse(const member& culprit, const error_code& why);
  awaitable<error_code> give_up_declining(const member& culprit);
  awaitable<error_code> check_keys(const delivery_batch& batch);
  awaitable<error_code> look_again(const delivery_batch& batch);
  awaitable<error_code> read_again(const delivery_batch& batch, bool may_decline);
  void take_back(message_in_hand& whose, message found, bool may_decline);
  void judge_again(message_in_hand& whose);
  std::int64_t first_failure_of(const message_in_hand& whose) const;
  const queue_consumer_options& options() const noexcept { return frame_.options; }
  std::chrono::milliseconds max_pause() const { return term_->session()->options().retry.max_pause; }

  term_ptr term_;
  delivery_frame& frame_;
  delivery_window& window_;
  circuit_breaker& breaker_;
  probation& probation_;
  parked_keys& parked_;
  delivery_log& log_;
  delivery_repeats& repeats_;
  delivery_figures figures_;
  std::size_t from_source_ = 0;   // operations of the last batch that belong to no single message, less the marks
  std::size_t most_at_once_;      // fewer than usual while a culprit is searched for
  bool is_merging_ = true;        // false while a culprit is searched for
  bool is_letter_ready_ = false;  // the source can take letters
  std::string spent_reason_;
};

}  // namespace zkrecipes::detail
