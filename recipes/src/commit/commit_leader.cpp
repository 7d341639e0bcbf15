#include "commit/commit_leader.hpp"

#include <algorithm>
#include <utility>

#include "commit/parties.hpp"
#include "commit/transaction_index.hpp"
#include "session/back_off.hpp"
#include "session/forwarding.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr auto least_pause = std::chrono::seconds(1);
constexpr auto longest_pause = std::chrono::minutes(1);

/// Gives another client that has written the decision a second to move the mark. Without an error the mark is still
/// in its place, and we have to move it.
awaitable<error_code> wait_indexed(core_ptr session, std::string mark) {
  condition pause(session->get_scheduler());
  auto why = co_await pause.wait(session->now() + least_pause);
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  auto look = make_request(opcode::exists, std::move(mark));
  auto seen = co_await session->perform(std::move(look), retry::always);
  co_return seen.error;
}

awaitable<error_code> finish(core_ptr session, std::string path, std::string id, lease_clock::time_point deadline) {
  const auto node = join(path, id);
  auto seen = co_await see_decided(session, node, deadline);
  // Somebody has removed the transaction by hand.
  if (seen.error == errc::no_node) co_return co_await remove_mark(session, undecided_mark(path, id));
  if (seen.error) co_return seen.error;
  if (!seen.is_written) {
    auto error = co_await wait_indexed(session, undecided_mark(path, id));
    if (error) co_return error == errc::no_node ? error_code() : error;
  }
  co_return co_await index_decided(session, node, seen.stat.ctime);
}

}  // namespace

commit_leader::commit_leader(own_node_ptr node, std::string path, commit_coordinator_options options)
    : node_(std::move(node)),
      session_(node_->session()),
      path_(std::move(path)),
      options_(std::move(options)),
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
  auto layout = co_await read_layout(session_, path_);
  auto error = std::get<0>(layout);
  if (error) co_return error;
  auto& seen = std::get<1>(layout);
  if (seen.layout == commit_layout::mixed) co_return co_await adopt_transactions(session_, path_, std::move(seen));
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
    if (is_new) found->second.run(session_->strand(), see_to(shared_from_this(), each, deadline));
  }
  co_return error_code();
}

/// Starts the clean-up in the background, because decisions must not wait for it.
void commit_leader::begin_cleaning() {
  next_cleaning_ = never;
  cleaning_.run(session_->strand(), clean(shared_from_this()));
}

awaitable<void> commit_leader::clean(std::shared_ptr<commit_leader> self) {
  auto done = co_await clean_up(self->session_, self->path_, self->options_.retention);
  self->tell({}, std::get<0>(done));
  self->next_cleaning_ =
      self->session_->now() + std::max<lease_clock::duration>(self->options_.retention / 4, least_pause);
  self->changed_.notify();
}

/// Works on a transaction until it is decided and its mark is moved. A refused request is tried again, with pauses.
awaitable<void> commit_leader::see_to(std::shared_ptr<commit_leader> self, std::string id,
                                      lease_clock::time_point deadline) {
  condition pause(self->session_->get_scheduler());
  back_off pauses(least_pause, longest_pause);
  for (;;) {
    auto error = co_await finish(self->session_, self->path_, id, deadline);
    if (!error || !self->tell(id, error)) break;
    auto why = co_await pause.wait(pauses.next(*self->session_->get_scheduler()));
    if (why == wake::cancelled) break;
  }
  self->deciding_.erase(id);
}

/// Tells the user why a request was refused, unless the connection or the session was lost. Returns whether another
/// try makes sense.
bool commit_leader::tell(const std::string& id, const error_code& error) {
  if (!error || error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed) {
    return false;
  }
  if (options_.on_refused && error != errc::connection_loss && error != errc::session_expired) {
    options_.on_refused(id, error);
  }
  return true;
}

}  // namespace zkrecipes::detail
