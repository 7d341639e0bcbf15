#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <zkrecipes/two_phase_commit.hpp>

#include "commit/commit_transaction.hpp"
#include "commit/transaction_index.hpp"
#include "election/term_record.hpp"
#include "line/line_spec.hpp"
#include "line/own_node.hpp"
#include "line/waiter.hpp"
#include "session/background.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

/// Clean-up removes transactions that were decided long ago, and aborts those that have been undecided for as long.
/// One clean-up.
class commit_cleaner {
 public:
  commit_cleaner(core_ptr session, std::string path, std::chrono::milliseconds age);

  /// Returns how many transactions were removed; after an error, how many had been removed until then.
  awaitable<outcome<std::size_t>> clean();

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }

 private:
  awaitable<error_code> clean_all();
  awaitable<error_code> handle_undecided();
  awaitable<error_code> give_up(std::string id);
  awaitable<error_code> clean_hour(std::string hour);
  awaitable<error_code> remove(indexed_transaction which, std::string mark);

  core_ptr session_;
  std::string path_;
  std::chrono::milliseconds age_;
  transaction_index index_;
  std::int64_t latest_ = 0;  // what happened until then is old, by the servers' clock
  std::size_t removed_ = 0;
};

using backend::opcode;

namespace {

/// Errors that concern only this transaction: clean-up goes on with the next one.
bool is_minor(const error_code& error) {
  return is_overtaken(error) || error == errc::not_empty || error == errc::foreign_data;
}

}  // namespace

commit_cleaner::commit_cleaner(core_ptr session, std::string path, std::chrono::milliseconds age)
    : session_(std::move(session)), path_(std::move(path)), age_(age), index_(session_, path_) {}

awaitable<outcome<std::size_t>> commit_cleaner::clean() {
  auto error = co_await clean_all();
  co_return outcome<std::size_t>(error, removed_);
}

awaitable<error_code> commit_cleaner::clean_all() {
  auto path = co_await index_.read_path();
  auto& [error, seen] = path;
  if (error || seen.layout == commit_layout::missing) co_return error;
  if (seen.layout == commit_layout::mixed) {
    error = co_await index_.adopt(seen);
    ++seen.version;  // the path was written there
  }
  if (error) co_return error;
  // The present time of the servers, to be compared with the times of nodes, is taken from a write.
  auto timed = co_await index_.write_indexed(std::move(seen));
  latest_ = std::get<1>(timed) - age_.count();
  error = std::get<0>(timed);
  if (error == errc::no_node) co_return error_code();  // the path was removed just now
  if (!error) error = co_await handle_undecided();
  if (error) co_return error;
  auto hours = co_await index_.hours();
  error = std::get<0>(hours);
  for (const auto& each : std::get<1>(hours)) {
    const auto hour = hour_of(each);
    if (error || !hour || *hour > latest_) continue;
    error = co_await clean_hour(each);
  }
  co_return error;
}

/// Handles the transactions with a mark among the undecided: removes or moves marks that are out of date, and aborts
/// transactions that are old.
awaitable<error_code> commit_cleaner::handle_undecided() {
  auto found = co_await index_.read_undecided();
  auto error = std::get<0>(found);
  for (const auto& each : std::get<1>(found)) {
    if (error) break;
    auto mark = undecided_mark(path_, each.id);
    if (each.what == indexed_transaction::kind::gone) error = co_await index_.remove_mark(std::move(mark));
    if (each.what == indexed_transaction::kind::decided) error = co_await index_.move_mark(each.id, each.stat.ctime);
    const bool is_old = each.what == indexed_transaction::kind::undecided && each.stat.ctime <= latest_;
    if (is_old) error = co_await give_up(each.id);
    if (is_minor(error)) error.clear();
  }
  co_return error;
}

awaitable<error_code> commit_cleaner::give_up(std::string id) {
  const auto node = join(path_, id);
  auto seen = co_await look_at_commit(session_, node, persistence::limited);
  if (seen.error || seen.record.decided()) co_return seen.error;
  seen.record.outcome = {decision::aborted, "given up"};
  auto abort = make_request(opcode::set, node);
  abort.data = serialize(seen.record);
  abort.version = seen.stat.version;
  auto written = co_await session_->perform(std::move(abort), retry::once);
  co_return written.error;
}

/// Removes those transactions of one hour that were decided long ago.
awaitable<error_code> commit_cleaner::clean_hour(std::string hour) {
  const auto folder = join(decided_folder(path_), hour);
  auto found = co_await index_.read_hour(hour);
  auto error = std::get<0>(found);
  for (const auto& each : std::get<1>(found)) {
    if (error) co_return error;
    auto mark = join(folder, each.id);
    if (each.what == indexed_transaction::kind::gone) error = co_await index_.remove_mark(mark);
    if (each.what != indexed_transaction::kind::decided || each.stat.mtime > latest_) continue;
    error = co_await remove(each, std::move(mark));
    if (!error) ++removed_;
    if (is_minor(error)) error.clear();
  }
  if (error) co_return error;
  auto removing = make_request(opcode::remove, folder);
  co_await session_->perform(std::move(removing), retry::once);  // fails if other transactions of that hour remain
  co_return error_code();
}

/// Removes the votes, the node and the mark of a transaction in one step. If somebody has put other nodes below it,
/// nothing is removed.
awaitable<error_code> commit_cleaner::remove(indexed_transaction which, std::string mark) {
  const auto node = join(path_, which.id);
  auto list = make_request(opcode::children, node);
  auto listed = co_await session_->perform(std::move(list), retry::always);
  if (listed.error) co_return listed.error;
  transaction all;
  for (const auto& each : listed.children) {
    if (each.starts_with("vote-")) all.remove(join(node, each));
  }
  all.remove(node, which.stat.version).remove(mark);
  auto removed = co_await session_->perform(backend::make_multi(all), retry::once);
  co_return removed.error;
}

/// One period of leadership: the elected coordinator decides all undecided transactions.
class commit_leader : public std::enable_shared_from_this<commit_leader> {
 public:
  commit_leader(own_node_ptr node, std::string path, commit_coordinator_options options);

  /// Leads until the leadership is lost. Errors: `operation_aborted`, and those that make it impossible to go on.
  awaitable<error_code> lead();
  /// Stops all work in progress. A decision that is not written is left to the next leader.
  void stop();

 private:
  awaitable<error_code> prepare();
  awaitable<error_code> take_over();
  void begin_cleaning();
  static awaitable<void> clean(std::shared_ptr<commit_leader> self);
  static awaitable<void> finish_transaction(std::shared_ptr<commit_leader> self, std::string id,
                                            lease_clock::time_point deadline);
  bool on_failure(const std::string& id, const error_code& error);

  own_node_ptr node_;
  core_ptr session_;
  std::string path_;
  commit_coordinator_options options_;
  transaction_index index_;
  std::map<std::string, background> deciding_;  // by transaction
  background cleaning_;
  lease_clock::time_point next_cleaning_ = never;
  condition changed_;  // the list of undecided transactions, our node in the line, or the time of the next clean-up
};

namespace {

constexpr auto least_pause = std::chrono::seconds(1);
constexpr auto longest_decision_pause = std::chrono::minutes(1);

}  // namespace

commit_leader::commit_leader(own_node_ptr node, std::string path, commit_coordinator_options options)
    : node_(std::move(node)),
      session_(node_->session()),
      path_(std::move(path)),
      options_(std::move(options)),
      index_(session_, path_),
      changed_(session_->get_scheduler()) {}

awaitable<error_code> commit_leader::lead() {
  const forwarding loss(node_->changed(), changed_);
  auto error = co_await prepare();
  next_cleaning_ = options_.retention.count() > 0 ? session_->now() : never;
  while (!error && !node_->lost()) {
    auto hint = session_->arm(watch_kind::children, undecided_folder(path_), changed_);
    error = co_await take_over();
    while (!error && !node_->lost() && !hint->fired()) {
      if (session_->now() >= next_cleaning_) begin_cleaning();
      auto why = co_await changed_.wait(next_cleaning_);
      if (why == wake::cancelled) error = asio::error::operation_aborted;
    }
  }
  co_return error;
}

void commit_leader::stop() {
  cleaning_.stop();
  for (auto& [id, each] : deciding_) each.stop();
}

/// Makes sure that all undecided transactions have marks, and that there is a folder for the marks.
awaitable<error_code> commit_leader::prepare() {
  auto path = co_await index_.read_path();
  auto error = std::get<0>(path);
  if (error) co_return error;
  auto& seen = std::get<1>(path);
  if (seen.layout == commit_layout::mixed) co_return co_await index_.adopt(std::move(seen));
  co_return co_await session_->ensure_path(undecided_folder(path_));
}

/// Lists the undecided transactions, and starts to decide those that are new to us.
awaitable<error_code> commit_leader::take_over() {
  std::vector<backend::request> look{make_request(opcode::children, undecided_folder(path_), true)};
  auto answered = co_await perform_together(session_, std::move(look), persistence::endless);
  auto& [error, replies] = answered;
  if (error || replies[0].error) co_return error ? error : replies[0].error;
  const auto deadline = session_->now() + options_.vote_timeout;
  for (const auto& each : replies[0].children) {
    auto [found, is_new] = deciding_.try_emplace(each);
    if (is_new) found->second.run(session_->strand(), finish_transaction(shared_from_this(), each, deadline));
  }
  co_return error_code();
}

/// Starts the clean-up in the background, because decisions must not wait for it.
void commit_leader::begin_cleaning() {
  next_cleaning_ = never;
  cleaning_.run(session_->strand(), clean(shared_from_this()));
}

awaitable<void> commit_leader::clean(std::shared_ptr<commit_leader> self) {
  commit_cleaner cleaner(self->session_, self->path_, self->options_.retention);
  auto done = co_await cleaner.clean();
  self->on_failure({}, std::get<0>(done));
  self->next_cleaning_ =
      self->session_->now() + std::max<lease_clock::duration>(self->options_.retention / 4, least_pause);
  self->changed_.notify();
}

/// Works on a transaction until it is decided and its mark is moved. A refused request is tried again, with pauses.
awaitable<void> commit_leader::finish_transaction(std::shared_ptr<commit_leader> self, std::string id,
                                                  lease_clock::time_point deadline) {
  commit_transaction which(self->session_, self->path_, id);
  condition pause(self->session_->get_scheduler());
  back_off pauses(least_pause, longest_decision_pause);
  for (;;) {
    auto error = co_await which.finish(deadline);
    if (!error || !self->on_failure(id, error)) break;
    auto why = co_await pause.wait(pauses.next(*self->session_->get_scheduler()));
    if (why == wake::cancelled) break;
  }
  self->deciding_.erase(id);
}

/// Tells the user why a request was refused, unless the connection or the session was lost. Returns whether another
/// try makes sense.
bool commit_leader::on_failure(const std::string& id, const error_code& error) {
  if (!error || forbids_retry(error)) return false;
  if (options_.on_refused && !is_unanswered(error)) options_.on_refused(id, error);
  return true;
}

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
constexpr std::size_t max_record_bytes = 900'000;
constexpr std::size_t max_reason = 10'000;
constexpr std::size_t max_participants = 1000;

/// The size of the largest ZooKeeper transaction: the record, and a check of each vote.
std::size_t size_of(const std::string& node, const commit_record& record) {
  std::size_t size = serialize(record).size() + max_reason;
  for (const auto& each : record.participants) size += node.size() + each.size() + 64;
  return size;
}

/// Why it must not be begun. One that is larger than the session sends could be begun and voted on, and never decided.
error_code refusal_of(const commit_record& record, const std::string& node, const core& session) {
  const std::set<std::string> different(record.participants.begin(), record.participants.end());
  const auto count = record.participants.size();
  const bool has_good_names = std::ranges::all_of(different, [](const auto& each) { return is_participant(each); });
  if (!has_good_names || count == 0 || count > max_participants || different.size() != count)
    return errc::bad_arguments;
  const auto size = size_of(node, record);
  if (size > max_record_bytes) return errc::bad_arguments;
  const auto roots = (count + 1) * session.root().size();  // in front of each path
  return size + roots > session.options().jute_maxbuffer ? make_error_code(errc::too_large) : error_code();
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
  const auto problem =
      is_transaction_id(id) ? refusal_of(record, join(path, id), *core) : make_error_code(errc::bad_arguments);
  launch(*core->get_scheduler(), std::move(h),
         problem ? refuse<>(problem)
                 : owning(transaction_at(core, path, id), &commit_transaction::begin, std::move(record)));
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
