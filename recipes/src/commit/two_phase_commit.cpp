#include <set>
#include <stdexcept>
#include <utility>

#include <zkrecipes/two_phase_commit.hpp>

#include "commit/parties.hpp"
#include "commit/transaction_index.hpp"
#include "session/deadline.hpp"
#include "session/hook.hpp"

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

}  // namespace

two_phase_commit::two_phase_commit(session over, std::string path) : session_(std::move(over)), path_(std::move(path)) {
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
         good ? begin_commit(core, std::move(path), std::move(id), std::move(record)) : refuse<>(errc::bad_arguments));
}

void two_phase_commit::start_vote(outcome_handler h, core_ptr core, std::string path, std::string id,
                                  std::string participant, ballot vote, std::string reason) {
  const bool good = is_transaction_id(id) && is_participant(participant) && reason.size() <= max_reason;
  commit_vote what{std::move(participant), vote, std::move(reason)};
  launch(*core->get_scheduler(), std::move(h),
         good ? detail::vote(core, join(path, id), std::move(what)) : refuse<commit_outcome>(errc::bad_arguments));
}

void two_phase_commit::start_outcome(outcome_handler h, core_ptr core, std::string path, std::string id,
                                     lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  auto waiting =
      is_transaction_id(id) ? await_outcome(core, join(path, id)) : refuse<commit_outcome>(errc::bad_arguments);
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(waiting)));
}

void two_phase_commit::start_decide(outcome_handler h, core_ptr core, std::string path, std::string id,
                                    lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  launch(*on, std::move(h),
         is_transaction_id(id) ? decide(core, join(path, id), on->deadline_of(budget))
                               : refuse<commit_outcome>(errc::bad_arguments));
}

void two_phase_commit::start_state(handler_for<void(error_code, commit_state)> h, core_ptr core, std::string path,
                                   std::string id) {
  launch(*core->get_scheduler(), std::move(h),
         is_transaction_id(id) ? read_state(core, join(path, id)) : refuse<commit_state>(errc::bad_arguments));
}

namespace {

awaitable<outcome<std::vector<std::string>>> undecided(core_ptr session, std::string path) {
  auto found = co_await read_undecided(std::move(session), std::move(path));
  std::vector<std::string> ids;
  for (auto& each : std::get<1>(found)) {
    if (each.what == indexed_transaction::kind::undecided) ids.push_back(std::move(each.id));
  }
  co_return outcome<std::vector<std::string>>(std::get<0>(found), std::move(ids));
}

}  // namespace

void two_phase_commit::start_undecided(handler_for<void(error_code, std::vector<std::string>)> h, core_ptr core,
                                       std::string path) {
  launch(*core->get_scheduler(), std::move(h), undecided(core, std::move(path)));
}

void two_phase_commit::start_clean_up(handler_for<void(error_code, std::size_t)> h, core_ptr core, std::string path,
                                      std::chrono::milliseconds age) {
  launch(*core->get_scheduler(), std::move(h),
         age.count() >= 0 ? clean_up(core, std::move(path), age) : refuse<std::size_t>(errc::bad_arguments));
}

void two_phase_commit::start_coordinate(handler_for<void(error_code)> h, core_ptr core, std::string path,
                                        commit_coordinator_options options) {
  options.on_refused = guarded(*core->get_scheduler(), std::move(options.on_refused));
  launch(*core->get_scheduler(), std::move(h), coordinate(core, std::move(path), std::move(options)));
}

}  // namespace zkrecipes
