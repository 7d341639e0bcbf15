// Of N replicas one works.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include <zkrecipes/leader_career.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class coordinator;
}

struct coordinator_options {
  /// Who we are, as operators see it. Not empty, at most 256 bytes, no control characters.
  std::string id{};
  /// Pause before campaigning again after a term, so that others come first. 0 to 1 h.
  std::chrono::milliseconds rest{0};
};

/// Runs a career whenever we are elected at `path`. The protocol, its record in the data of the node at `path` and its
/// guarantees are described in docs/hand-over.md. Thread safety: safe.
class consumer_coordinator {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  consumer_coordinator(session over, std::string path, coordinator_options options);
  ~consumer_coordinator();  ///< As `stop`.
  consumer_coordinator(consumer_coordinator&&) noexcept;
  consumer_coordinator& operator=(consumer_coordinator&&) noexcept;

  /// Campaigns, leads, hands over, and again, until stopped. `career` must outlive the operation.
  /// Signature: void(error_code). Errors: none after `stop`; `busy` (it runs already), `career_failed` (see `failure`),
  /// `foreign_data` (the node's data is not a term record, or another recipe is using the path), `no_auth`,
  /// `sequence_exhausted`, `closed`, `auth_failed`.
  /// Cancellation: `total` and `partial` are a `stop`; `terminal` cancels the message in hand, too. In each case the
  /// term is handed over first, and no node of ours stays behind.
  /// \throws std::invalid_argument naming the field of `career_traits` that is out of bounds.
  template <class Token>
  auto async_run(leader_career& career, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_run, coordinator_, checked(career));
  }

  /// Ends the present term, if we lead, with a hand-over; then campaigns again behind the others.
  void resign();

  /// Ends the run after a hand-over.
  void stop();

  /// The exception that ended the run with `career_failed`.
  std::exception_ptr failure() const;

 private:
  using coordinator_ptr = std::shared_ptr<detail::coordinator>;
  static leader_career* checked(leader_career& career);
  static void start_run(detail::handler_for<void(error_code)>, coordinator_ptr, leader_career*);

  coordinator_ptr coordinator_;
};

}  // namespace zkrecipes
