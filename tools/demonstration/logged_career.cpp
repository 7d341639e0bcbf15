#include "logged_career.hpp"

namespace demo {

namespace asio = boost::asio;

asio::awaitable<void> logged_career::inaugurate(zkrecipes::term present) {
  auto goes_on = log_.begins(consumer_, present.epoch(), "inaugurate");
  co_await inner_.inaugurate(present);
}

asio::awaitable<void> logged_career::execute(zkrecipes::term present) {
  auto goes_on = log_.begins(consumer_, present.epoch(), "execute");
  co_await inner_.execute(present);
}

asio::awaitable<void> logged_career::hand_over(zkrecipes::term present, zkrecipes::term_end reason) {
  auto goes_on = log_.begins(consumer_, present.epoch(), "hand_over");
  co_await inner_.hand_over(present, reason);
}

asio::awaitable<void> logged_career::ended(zkrecipes::term present, zkrecipes::term_end reason) {
  co_await inner_.ended(present, reason);
}

}  // namespace demo
