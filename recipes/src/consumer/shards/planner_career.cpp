#include "shards/planner_career.hpp"

#include <memory>

#include "shards/planner.hpp"

namespace zkrecipes::detail {

boost::asio::awaitable<void> planner_career::execute(term present) {
  auto on_trouble = [this](const error_code& error) { record_error(error); };
  auto work = std::make_shared<planner>(group_, present.get_state(), std::move(on_trouble));
  co_await work->run();
  record_error(error_code());
}

error_code planner_career::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

void planner_career::record_error(const error_code& error) {
  std::lock_guard lock(mutex_);
  trouble_ = error;
}

}  // namespace zkrecipes::detail
