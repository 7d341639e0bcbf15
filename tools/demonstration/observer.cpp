#include "observer.hpp"

#include <boost/asio.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

observer::observer(zkrecipes::session session, std::function<void(const std::string&)> say)
    : session_(std::move(session)), say_(std::move(say)) {}

asio::awaitable<void> observer::run() {
  zkrecipes::election election(session_, election_path, {.id = "observer"});
  constexpr auto token = asio::as_tuple(asio::use_awaitable);
  for (;;) {
    auto seen = co_await election.async_view_change(view_, token);
    auto& [error, next] = seen;
    if (zkrecipes::is_fatal(error)) co_return;
    if (!error) on_view(next);
  }
}

void observer::on_view(const zkrecipes::election_view& next) {
  using zkrecipes::to_string;
  if (next.hand_over && !view_.hand_over) {
    saw_hand_over_ = true;
    say_("hand-over: " + next.hand_over->from + " -> " + next.hand_over->to + ", " + next.hand_over->state);
  }
  if (next.epoch != view_.epoch && next.how) {
    auto& term = terms_[next.epoch];
    term.epoch = next.epoch;
    term.leader = next.leader;
    term.takeover = to_string(*next.how);
    say_("epoch " + std::to_string(next.epoch) + ": " + next.leader + " leads (" + term.takeover + "), " +
         std::to_string(next.candidates.size() - 1) + " wait");
  }
  view_ = next;
}

}  // namespace demo
