// An elected coordinator: it decides whatever is undecided, for as long as it leads.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "commit/parties.hpp"
#include "election/term_record.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// One leadership.
class office : public std::enable_shared_from_this<office> {
 public:
  office(place_ptr where, std::string path, commit_coordinator_options options)
      : where_(std::move(where)), session_(where_->session()), path_(std::move(path)), options_(std::move(options)) {}

  /// Until it is lost. Errors: `operation_aborted`, and what makes it impossible to go on.
  awaitable<error_code> hold() {
    next_cleaning_ = options_.keep.count() > 0 ? session_->now() : never;
    while (!where_->lost()) {
      auto hint = session_->arm(watch_kind::children, path_, where_->changed());
      auto error = co_await take_over();
      if (error) co_return error;
      while (!where_->lost() && !hint->fired()) {
        if (session_->now() >= next_cleaning_) begin_cleaning();
        auto why = co_await where_->changed().wait(next_cleaning_);
        if (why == wake::cancelled) co_return asio::error::operation_aborted;
      }
    }
    co_return error_code();
  }
  /// What is under way ends: a decision that is not written is left to the next.
  void stop() {
    cleaning_.stop();
    for (auto& [id, each] : deciding_) each.stop();
  }

 private:
  static constexpr auto least_pause = std::chrono::seconds(1);

  /// Sees to those transactions that we have not seen yet.
  awaitable<error_code> take_over() {
    std::vector<backend::request> look{make_request(opcode::children, path_, true)};
    auto answered = co_await perform_together(session_, std::move(look), persistence::endless);
    auto& [error, replies] = answered;
    if (error || replies[0].error) co_return error ? error : replies[0].error;
    std::set<std::string> present(replies[0].children.begin(), replies[0].children.end());
    std::erase_if(deciding_, [&](const auto& each) { return !present.contains(each.first); });
    const auto deadline = session_->now() + options_.patience;
    for (const auto& each : present) {
      if (!is_transaction_id(each)) continue;
      auto [found, is_new] = deciding_.try_emplace(each);
      if (is_new) found->second.run(session_->strand(), see_to(shared_from_this(), each, deadline));
    }
    co_return error_code();
  }

  /// Beside the decisions, which must not wait for it.
  void begin_cleaning() {
    next_cleaning_ = never;
    cleaning_.run(session_->strand(), clean(shared_from_this()));
  }
  static awaitable<void> clean(std::shared_ptr<office> self) {
    co_await clean_up(self->session_, self->path_, self->options_.keep);
    self->next_cleaning_ = self->session_->now() + std::max<lease_clock::duration>(self->options_.keep / 4, least_pause);
    self->where_->changed().notify();
  }

  static awaitable<void> see_to(std::shared_ptr<office> self, std::string id, lease_clock::time_point deadline) {
    co_await decide(self->session_, join(self->path_, id), deadline, self->where_);
  }

  place_ptr where_;
  core_ptr session_;
  std::string path_;
  commit_coordinator_options options_;
  std::map<std::string, background> deciding_;  // by transaction
  background cleaning_;
  lease_clock::time_point next_cleaning_ = never;
};

/// Stands for election and leads once. Errors: as `office::hold`.
awaitable<error_code> coordinate_once(core_ptr session, std::string path, commit_coordinator_options options) {
  auto entered = co_await place::enter(std::move(session), election_line(join(path, "_coordinator")), options.id);
  auto& [error, where] = entered;
  if (error) co_return error;
  error = co_await where->wait_turn(&nearest_ahead);
  if (!error) {
    auto leading = std::make_shared<office>(where, std::move(path), std::move(options));
    error = co_await leading->hold();
    leading->stop();
  }
  where->leave_later();
  co_return error;
}

}  // namespace

awaitable<outcome<>> coordinate(core_ptr session, std::string path, commit_coordinator_options options) {
  for (;;) {
    auto error = co_await coordinate_once(session, path, options);
    const bool lost = is_loss(error) && error != errc::closed;
    const bool again = !error || lost || error == errc::connection_loss || error == errc::no_node;
    if (!again) co_return outcome<>(error);
  }
}

}  // namespace zkrecipes::detail
