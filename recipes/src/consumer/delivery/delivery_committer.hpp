// Settles the messages that are finished: one commit at a time, in which everything that was finished meanwhile
// travels.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <zkrecipes/transaction.hpp>

#include "career/term_state.hpp"
#include "delivery/circuit_breaker.hpp"
#include "delivery/delivery_calls.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_repeats.hpp"
#include "delivery/delivery_window.hpp"
#include "delivery/message_source.hpp"
#include "delivery/parked_keys.hpp"
#include "delivery/probation.hpp"
#include "format/json_object.hpp"

namespace zkrecipes::detail {

/// The figures of a consumer in the record of its term, for operators.
/// They are written at most once a second, with a commit if there is one. On the strand.
class delivery_figures {
 public:
  struct figures {
    std::uint64_t received = 0, done = 0, again = 0, parked = 0, declined = 0, waited = 0, commits = 0;
    std::size_t held_back = 0, resting = 0;
    std::string held_off{};       ///< Why nothing but probes is begun, or nothing but calls that ask for pauses.
    bool is_still = false;        ///< A call of `process` has run for long.
    std::string still_message{};  ///< The name of its message.
    lease_clock::time_point still_since{};  ///< When it was begun.
    std::int64_t oldest = 0;  ///< When the first message was put, in milliseconds since 1970; 0: there is none.

    friend bool operator==(const figures&, const figures&) = default;
  };
  /// What a write of the record is to show.
  struct reading {
    figures what{};
    json_object text{};
    lease_clock::time_point at{};
  };

  /// All of these outlive it.
  delivery_figures(term_ptr term, const delivery_frame& frame, const delivery_window& window,
                   const circuit_breaker& breaker, const call_limit& limit)
      : term_(std::move(term)), frame_(frame), window_(window), breaker_(breaker), limit_(limit) {}

  /// When they have to be shown next; `never` if they are shown already.
  lease_clock::time_point next_time() const;
  /// The present ones, if it is time to show them; else those that are shown.
  reading read() const;
  bool is_shown(const reading& which) const { return which.what == shown_.what; }
  void on_shown(reading which) { shown_ = std::move(which); }
  /// The message whose call of `process` has run for long; null: there is none.
  const message_in_hand* hanging() const;

 private:
  figures present() const;
  json_object to_json(const figures& what) const;
  bool is_still(lease_clock::time_point since) const;
  bool is_held_off() const;

  term_ptr term_;
  const delivery_frame& frame_;
  const delivery_window& window_;
  const circuit_breaker& breaker_;
  const call_limit& limit_;
  reading shown_;
};

/// By the clock of this process, in milliseconds since 1970.
std::int64_t wall_time(const core& session);

/// The messages that one commit settles, and its transaction.
/// If effects of several messages set one path unconditionally, and nothing else in the batch touches it, only the last
/// of these sets is sent (it is *merged*): the same data stands there in the end.
class delivery_batch {
 public:
  struct member {
    message_in_hand* whose = nullptr;
    settlement how;
    std::size_t first = 0;  ///< The place of its first operation.
  };

  explicit delivery_batch(bool merges) : merges_(merges) {}

  /// Adds a message with its effects. The operations of the source come first: their refusal tells that the message has
  /// gone.
  void add(member one, transaction settling, transaction effects);
  /// The whole transaction; `more` belongs to no single message. Once.
  transaction seal(transaction more);

  const std::vector<member>& members() const noexcept { return members_; }
  bool empty() const noexcept { return members_.empty(); }
  /// About how many bytes these operations would add to the request.
  std::size_t more_bytes(const transaction& settling, const transaction& effects) const;
  std::size_t bytes() const noexcept { return bytes_; }

  /// The place of an operation of the transaction among all that were added, those that were merged included.
  std::size_t place_of(std::size_t operation) const { return places_.at(operation); }
  /// The member that the operation at this place belongs to; null if it belongs to no single message.
  const member* owner_of(std::size_t place) const;
  /// Where the operations of no single message begin.
  std::size_t end_of_members() const noexcept { return count_; }
  /// Whether sets of several messages were merged.
  bool is_merged() const noexcept { return is_merged_; }

 private:
  struct touch {
    std::size_t last = 0;
    bool is_plain = true;  // all of them are unconditional sets by effects
  };

  void append(operation one, bool is_effect);
  bool is_dropped(std::size_t place) const;

  bool merges_;
  bool is_merged_ = false;
  std::vector<member> members_;
  std::vector<operation> operations_;               // until `seal`
  std::size_t count_ = 0;                           // so many were added
  std::unordered_map<std::string, touch> touches_;  // by path
  std::vector<std::size_t> places_;
  std::size_t bytes_ = 0;
};

class delivery_committer {
 public:
  /// All of these outlive it.
  delivery_committer(term_ptr term, delivery_frame& frame, delivery_window& window, circuit_breaker& breaker,
                     probation& watch, parked_keys& parked, delivery_repeats& repeats, delivery_log& log,
                     const call_limit& limit);

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
