#include "commit/commit_leader.hpp"

#include <algorithm>
#include <utility>

#include "commit/commit_cleaner.hpp"
#include "commit/commit_transaction.hpp"
#include "session/back_off.hpp"
#include "session/forwarding.hpp"
#include "session/outcomes.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr auto least_pause = std::chrono::seconds(1);
constexpr auto longest_pause = std::chrono::minutes(1);

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
  back_off pauses(least_pause, longest_pause);
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

}  // namespace zkrecipes::detail
