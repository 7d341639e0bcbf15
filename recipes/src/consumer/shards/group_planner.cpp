#include "shards/group_planner.hpp"

#include <chrono>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include <boost/system/errc.hpp>

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

using namespace std::chrono_literals;

group_planner::group_planner(group_frame_ptr group, condition& ended)
    : group_(std::move(group)),
      ended_(ended),
      coordinator_(std::make_shared<coordinator>(group_->session, group_->where.planner(),
                                                 consumer_coordinator_options{.id = group_->options.id})),
      career_(group_),
      pause_(1s, 30s) {}

awaitable<void> group_planner::run(std::shared_ptr<group_planner> self) {
  self->error_ = self->coordinator_->begin_run(self->career_);
  if (self->error_) co_return;
  try {
    auto ended = co_await self->coordinator_->run(self->group_->session->strand());
    self->error_ = std::get<0>(ended);
  } catch (const std::bad_alloc&) {
    self->error_ = make_error_code(boost::system::errc::not_enough_memory);
  }
}

void group_planner::start(const std::shared_ptr<void>& owner) {
  const auto& session = group_->session;
  again_at_ = never;  // also that of a run before: a time that is over would be waited for without a pause
  auto running = run(std::shared_ptr<group_planner>(owner, this));
  task_ = start_task(*session->get_scheduler(), session->strand(), std::move(running), ended_, owner);
}

awaitable<void> group_planner::end() {
  if (!task_) co_return;
  coordinator_->stop(false);
  while (!task_->done) co_await ended_.wait();
  task_.reset();
}

error_code group_planner::failure() const { return task_ && task_->done ? error_ : error_code(); }

void group_planner::start_again_if_due(const std::shared_ptr<void>& owner) {
  const auto& session = group_->session;
  if (again_at_ == never) again_at_ = pause_.next(*session->get_scheduler());
  if (session->now() >= again_at_) start(owner);
}

void group_planner::show_in(shard_group_status& status) const {
  const auto phase = coordinator_->status().phase;
  if (!status.planner_error) status.planner_error = career_.trouble();
  status.is_planner = phase == coordinator_phase::inaugurating || phase == coordinator_phase::executing;
}

}  // namespace zkrecipes::detail
