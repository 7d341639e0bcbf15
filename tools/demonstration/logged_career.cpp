#include "logged_career.hpp"

namespace demo {

namespace asio = boost::asio;

phase_mark logged_career::mark(const zkrecipes::term& present, std::string phase) const {
  return {monotonic_ns(), consumer_, present.epoch(), std::move(phase), false, shard_};
}

asio::awaitable<void> logged_career::inaugurate(zkrecipes::term present) {
  auto goes_on = log_.begins(mark(present, "inaugurate"));
  co_await inner_->inaugurate(present);
}

asio::awaitable<void> logged_career::execute(zkrecipes::term present) {
  auto goes_on = log_.begins(mark(present, "execute"));
  co_await inner_->execute(present);
}

asio::awaitable<void> logged_career::hand_over(zkrecipes::term present, zkrecipes::term_end reason) {
  auto goes_on = log_.begins(mark(present, "hand_over"));
  co_await inner_->hand_over(present, reason);
}

/// Logs the reason as a phase that ends: nothing of this term goes on any more.
asio::awaitable<void> logged_career::ended(zkrecipes::term present, zkrecipes::term_end reason) {
  log_.note(mark(present, zkrecipes::to_string(reason)));
  co_await inner_->ended(present, reason);
}

}  // namespace demo
