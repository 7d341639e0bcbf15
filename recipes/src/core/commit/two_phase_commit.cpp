#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <zkrecipes/two_phase_commit.hpp>

#include "commit/commit_cleaner.hpp"
#include "commit/commit_leader.hpp"
#include "commit/commit_transaction.hpp"
#include "election/term_record.hpp"
#include "line/member_data.hpp"
#include "line/waiter.hpp"
#include "session/back_off.hpp"
#include "session/core.hpp"
#include "session/deadline.hpp"
#include "session/hook.hpp"
#include "session/make.hpp"
#include "session/mending.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// The candidacy of a coordinator of two-phase commits.
/// Stands for election among the coordinators at a path, and leads for as long as it is the leader.
class commit_campaign {
 public:
  commit_campaign(core_ptr session, std::string path, commit_coordinator_options options);

  /// Stands again after each loss of the leadership. Ends with an error that makes it impossible to go on.
  awaitable<outcome<>> run();

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }

 private:
  awaitable<error_code> lead_once();

  core_ptr session_;
  std::string path_;
  commit_coordinator_options options_;
  bool has_worked_ = false;  // it has been in line
};

commit_campaign::commit_campaign(core_ptr session, std::string path, commit_coordinator_options options)
    : session_(std::move(session)), path_(std::move(path)), options_(std::move(options)) {}

awaitable<outcome<>> commit_campaign::run() {
  auto pause = session_->backoff();
  for (;;) {
    auto error = co_await lead_once();
    if (!error) pause.reset();
    // The session's root can be made a moment later, so that it is missing is waited out from the beginning.
    if (is_refused(error) && mends(error, has_worked_ || error == errc::no_node)) {
      if (options_.on_refused) options_.on_refused({}, error);
      error = co_await session_->pause_before_retry(pause, nullptr);
      if (!error) continue;
    }
    if (!mends(error, false)) co_return outcome<>(error);
    while (session_->has_lapsed()) {
      error = co_await session_->pause_before_retry(pause, nullptr);
      if (error) co_return outcome<>(error);
    }
  }
}

/// Stands for election and leads once. Errors: as `commit_leader::lead`.
awaitable<error_code> commit_campaign::lead_once() {
  auto line = election_line(join(path_, "_coordinator"));
  auto where = std::make_shared<waiter>(session_, std::move(line), id_data(options_.id));
  auto entered = co_await where->enter();
  auto& [error] = entered;
  if (error) co_return error;
  const leaving place(where->node());
  has_worked_ = true;
  error = co_await where->wait(&nearest_ahead);
  if (!error) {
    auto leading = std::make_shared<commit_leader>(where->node(), path_, options_);
    error = co_await leading->lead();
    leading->stop();
  }
  co_return error;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

// Well below the largest request that a server accepts (1 MiB by default), so that the decision fits beside the record.
constexpr std::size_t max_bytes = 900'000;
constexpr std::size_t max_reason = 10'000;
constexpr std::size_t max_participants = 1000;

/// The size of the largest ZooKeeper transaction: the record, and a check of each vote.
std::size_t size_of(const std::string& node, const commit_record& record) {
  std::size_t size = serialize(record).size() + max_reason;
  for (const auto& each : record.participants) size += node.size() + each.size() + 64;
  return size;
}

bool is_good(const commit_record& record, const std::string& node) {
  const std::set<std::string> different(record.participants.begin(), record.participants.end());
  for (const auto& each : different) {
    if (!is_participant(each)) return false;
  }
  const auto count = record.participants.size();
  return count > 0 && count <= max_participants && different.size() == count && size_of(node, record) <= max_bytes;
}

std::shared_ptr<commit_transaction> transaction_at(core_ptr session, const std::string& path, std::string id) {
  return std::make_shared<commit_transaction>(std::move(session), path, std::move(id));
}

}  // namespace

two_phase_commit::two_phase_commit(session over, std::string path) : session_(std::move(over)), path_(std::move(path)) {
  require_session(session_);
  require_path("two-phase commit path", path_);
  if (path_ == "/") throw std::invalid_argument("two-phase commit path \"/\": it needs a path of its own");
}

void two_phase_commit::check(const commit_coordinator_options& options) {
  require_id("commit_coordinator_options::id", options.id);
  const auto most = std::chrono::hours(24 * 365 * 100);
  if (options.vote_timeout.count() < 0 || options.vote_timeout > most) {
    throw std::invalid_argument("commit_coordinator_options::vote_timeout: it must be 0 to 100 years");
  }
  if (options.retention.count() < 0 || options.retention > most) {
    throw std::invalid_argument("commit_coordinator_options::retention: it must be 0 to 100 years");
  }
}

void two_phase_commit::start_begin(handler_for<void(error_code)> h, core_ptr core, std::string path, std::string id,
                                   std::vector<std::string> participants, std::string data) {
  commit_record record{{}, std::move(participants), std::move(data), {}};
  const bool good = is_transaction_id(id) && is_good(record, join(path, id));
  launch(*core->get_scheduler(), std::move(h),
         good ? owning(transaction_at(core, path, id), &commit_transaction::begin, std::move(record))
              : refuse<>(errc::bad_arguments));
}

void two_phase_commit::start_vote(outcome_handler h, core_ptr core, std::string path, std::string id,
                                  std::string participant, ballot vote, std::string reason) {
  const bool good = is_transaction_id(id) && is_participant(participant) && reason.size() <= max_reason;
  commit_vote what{std::move(participant), vote, std::move(reason)};
  launch(*core->get_scheduler(), std::move(h),
         good ? owning(transaction_at(core, path, id), &commit_transaction::vote, std::move(what))
              : refuse<commit_outcome>(errc::bad_arguments));
}

void two_phase_commit::start_outcome(outcome_handler h, core_ptr core, std::string path, std::string id,
                                     lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  auto waiting = is_transaction_id(id) ? owning(transaction_at(core, path, id), &commit_transaction::await_outcome)
                                       : refuse<commit_outcome>(errc::bad_arguments);
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(waiting)));
}

void two_phase_commit::start_decide(outcome_handler h, core_ptr core, std::string path, std::string id,
                                    lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  launch(*on, std::move(h),
         is_transaction_id(id)
             ? owning(transaction_at(core, path, id), &commit_transaction::decide, on->deadline_of(budget))
             : refuse<commit_outcome>(errc::bad_arguments));
}

void two_phase_commit::start_state(handler_for<void(error_code, commit_state)> h, core_ptr core, std::string path,
                                   std::string id) {
  launch(*core->get_scheduler(), std::move(h),
         is_transaction_id(id) ? owning(transaction_at(core, path, id), &commit_transaction::state)
                               : refuse<commit_state>(errc::bad_arguments));
}

void two_phase_commit::start_undecided(handler_for<void(error_code, std::vector<std::string>)> h, core_ptr core,
                                       std::string path) {
  auto index = std::make_shared<transaction_index>(std::move(core), std::move(path));
  launch(std::move(h), std::move(index), &transaction_index::undecided_ids);
}

void two_phase_commit::start_clean_up(handler_for<void(error_code, std::size_t)> h, core_ptr core, std::string path,
                                      std::chrono::milliseconds age) {
  const auto& on = core->get_scheduler();
  auto cleaner = std::make_shared<commit_cleaner>(core, std::move(path), age);
  launch(
      *on, std::move(h),
      age.count() >= 0 ? owning(std::move(cleaner), &commit_cleaner::clean) : refuse<std::size_t>(errc::bad_arguments));
}

void two_phase_commit::start_coordinate(handler_for<void(error_code)> h, core_ptr core, std::string path,
                                        commit_coordinator_options options) {
  options.on_refused = guarded(*core->get_scheduler(), std::move(options.on_refused));
  auto campaign = std::make_shared<commit_campaign>(std::move(core), std::move(path), std::move(options));
  launch_endless(std::move(h), std::move(campaign), &commit_campaign::run);
}

}  // namespace zkrecipes
