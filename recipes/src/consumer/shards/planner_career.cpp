#include "shards/planner_career.hpp"

#include <memory>

#include "shards/planner.hpp"

namespace zkrecipes::detail {

boost::asio::awaitable<void> planner_career::execute(term present) {
  auto tell_trouble = [this](const error_code& error) { note_trouble(error); };
  auto work = std::make_shared<planner>(group_, present.get_state(), std::move(tell_trouble));
  co_await work->run();
  note_trouble(error_code());
}

error_code planner_career::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

void planner_career::note_trouble(const error_code& error) {
  std::lock_guard lock(mutex_);
  trouble_ = error;
}

}  // namespace zkrecipes::detail
