// Four clients campaign for one line, write under the fence of their ownership, and release, again and again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <zkrecipes/election.hpp>

#include "scenario/line_rules.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

// A contender campaigns, holds, writes under the fence of its ownership, and releases, again and again. Its operations
// are cancelled now and then.

/// State that all contenders share.
struct contest {
  line_rules rules;
  std::string line;
  std::string store;  ///< The node that the owner of the line writes to.
  bool all_well = false;
  std::vector<bool> granted_since_heal;  ///< For each client.
};

class contender {
 public:
  /// `number`: its index among the contenders of its process, which share the session and `all`.
  contender(contest& of, stage& in, int client, int number, session& over, operations& all);

  void campaign();
  /// Cancels all operations that it waits for.
  void cancel(asio::cancellation_type type);
  void stop();
  bool idle() const noexcept { return resting_ == 0; }
  belief believes() const;

 private:
  void begin_term();
  void wait_lost();
  void wait_revoked();
  void ask_resignation();
  void write();
  void lost(std::uint64_t term, error_code why);
  void release();
  void rest();
  void perhaps_cancel(asio::cancellation_signal& which, std::uint64_t one_in);
  bool holds(std::uint64_t term) const noexcept { return holding_ && term == term_; }

  contest& of_;
  stage& in_;
  int client_;
  session& zk_;
  operations& operations_;
  chance chance_;
  election election_;
  asio::cancellation_signal campaigning_;
  asio::cancellation_signal losing_;
  asio::cancellation_signal releasing_;
  ownership held_;
  bool holding_ = false;
  bool stopping_ = false;
  int resting_ = 0;
  std::uint64_t term_ = 0;
  std::uint64_t last_lost_ = 0;
};

/// One contender per process.
std::unique_ptr<scenario> make_election_scenario(stage& in);
/// Three per process, over one session.
std::unique_ptr<scenario> make_line_scenario(stage& in);

/// A process with `count` contenders.
std::unique_ptr<program> make_contenders(contest& of, stage& in, int client, session with, int count);

}  // namespace zkrecipes::simulation
