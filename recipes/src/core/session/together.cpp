#include "session/together.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// How often a node is found missing or not empty again, because others change the tree at the same time, before the
/// operation gives up.
constexpr int max_rounds = 100;

/// Requests in flight at once: enough to hide the round trip, few enough to leave the server to others.
constexpr std::size_t removals_at_once = 100;

class subtree_removal {
 public:
  explicit subtree_removal(core_ptr session) : session_(std::move(session)) {}

  awaitable<error_code> remove(std::string path) {
    std::vector<std::string> self{path};
    auto error = co_await remove_leaves(self);
    if (!error && !self.empty()) error = co_await remove_inner(std::move(path));
    co_return error;
  }

  std::size_t removed() const noexcept { return removed_; }

 private:
  /// Removes a node that had children a moment ago, and everything below it, depth first.
  awaitable<error_code> remove_inner(std::string path) {
    for (int round = 1; round < max_rounds; ++round) {
      auto look = make_request(opcode::children, path);
      auto listed = co_await session_->perform(std::move(look), retry::always);
      if (listed.error == errc::no_node) co_return error_code();
      if (listed.error) co_return listed.error;
      auto paths = std::move(listed.children);
      for (auto& each : paths) each = join(path, each);
      paths.push_back(path);  // right behind its children, before another client can create more of them
      auto error = co_await remove_leaves(paths);
      if (error || paths.empty()) co_return error;
      if (paths.back() == path) paths.pop_back();
      if (paths.empty()) continue;  // others have created children since they were listed
      for (std::size_t i = 0; i < paths.size() && !error; ++i) error = co_await remove_inner(paths[i]);
      if (error) co_return error;
      std::vector<std::string> self{path};
      error = co_await remove_leaves(self);
      if (error || self.empty()) co_return error;
    }
    co_return errc::not_empty;
  }

  /// Removes those of `paths` that have no children; the others are left in it.
  awaitable<error_code> remove_leaves(std::vector<std::string>& paths) {
    std::vector<std::string> inner;
    for (std::size_t first = 0; first < paths.size(); first += removals_at_once) {
      const auto count = std::min(removals_at_once, paths.size() - first);
      std::vector<backend::request> batch;
      for (std::size_t i = 0; i < count; ++i) batch.push_back(make_request(opcode::remove, paths[first + i]));
      const auto replies = co_await session_->perform_all(std::move(batch));
      error_code refused;
      for (std::size_t i = 0; i < count; ++i) {
        const auto& error = replies[i].error;
        if (error == errc::not_empty) {
          inner.push_back(std::move(paths[first + i]));
        } else if (!error) {
          ++removed_;
        } else if (error != errc::no_node && !refused) {
          refused = error;
        }
      }
      if (refused) co_return refused;
    }
    paths = std::move(inner);
    co_return error_code();
  }

  core_ptr session_;
  std::size_t removed_ = 0;
};

}  // namespace

awaitable<backend::reply> create_with_parents(core_ptr session, backend::request what) {
  const auto path = what.path;
  for (int round = 0;; ++round) {
    auto created = co_await session->perform(what, retry::once);
    if (created.error != errc::no_node || round == max_rounds || !path_problem(path).empty()) co_return created;
    created.error = co_await session->ensure_path(std::string(parent_of(path)));
    if (created.error) co_return created;
  }
}

awaitable<outcome<std::size_t>> remove_with_children(core_ptr session, std::string path) {
  if (path == "/" || !path_problem(path).empty()) co_return outcome<std::size_t>(errc::bad_arguments, 0);
  subtree_removal removal(std::move(session));
  auto error = co_await removal.remove(std::move(path));
  co_return outcome<std::size_t>(error, removal.removed());
}

namespace {

constexpr std::chrono::milliseconds first_pause_when_refused{50};
constexpr std::chrono::milliseconds longest_pause_when_refused{1'000};

}  // namespace

awaitable<outcome<std::vector<backend::reply>>> perform_together(core_ptr session, std::vector<backend::request> all,
                                                                 persistence how_long) {
  using result_type = outcome<std::vector<backend::reply>>;
  for (;;) {
    auto replies = co_await session->perform_all(all);
    bool again = false;
    for (const auto& each : replies) {
      const bool is_late = is_reply_lost(each.error) && how_long == persistence::limited;
      if (is_late || forbids_retry(each.error)) co_return result_type(each.error, {});
      again = again || may_have_happened(each.error);
    }
    if (!again) co_return result_type(error_code(), std::move(replies));
  }
}

awaitable<outcome<std::vector<backend::reply>>> perform_latest(core_ptr session, std::vector<backend::request> all,
                                                               persistence how_long) {
  using result_type = outcome<std::vector<backend::reply>>;
  const auto deadline = how_long == persistence::limited ? session->retry_deadline() : never;
  const incarnation_ptr any;
  back_off pause(first_pause_when_refused, longest_pause_when_refused);
  all.insert(all.begin(), backend::make_catch_up());
  for (;;) {
    auto answered = co_await perform_together(session, all, how_long);
    auto& [error, replies] = answered;
    if (error) co_return result_type(error, {});
    const auto refused = has_caught_up(replies.front().error) ? error_code() : replies.front().error;
    replies.erase(replies.begin());
    if (!refused || session->now() >= deadline) co_return result_type(refused, std::move(replies));
    const bool again = co_await session->rest(pause, any);
    if (!again) co_return result_type(session->over() ? session->over() : asio::error::operation_aborted, {});
  }
}

/// A throttled server refuses without the leader (`server_error`). With `no_node` and `no_auth` the leader has judged
/// the check.
bool has_caught_up(const error_code& answer) { return !answer || answer == errc::no_node || answer == errc::no_auth; }

}  // namespace zkrecipes::detail
