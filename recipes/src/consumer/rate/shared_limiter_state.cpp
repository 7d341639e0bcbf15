#include "rate/shared_limiter_state.hpp"

#include <utility>

#include "rate/slice_career.hpp"

namespace zkrecipes::detail {

namespace {

/// A process that dies again and again must not put slices in quarantine: its death has other reasons. The moves of all
/// slices may overlap, because each takes no longer than its writes.
shard_group_options group_options(const shared_limiter_options& options) {
  shard_group_options all;
  all.id = options.id;
  all.shards = options.slices;
  all.capacity = options.capacity;
  all.grace = options.grace;
  all.max_moves = 1;
  all.quarantine_after = 0;
  const lease_clock::duration per = options.per;
  all.data = std::to_string(options.rate) + " in " + std::to_string(per.count()) + " ns, burst " +
             std::to_string(options.burst);
  return all;
}

std::shared_ptr<group_member> make_member(core_ptr session, std::string path, const shared_limiter_options& options) {
  auto group = std::make_shared<group_frame>(std::move(session));
  group->where.root = std::move(path);
  group->options = group_options(options);
  return std::make_shared<group_member>(std::move(group));
}

}  // namespace

shared_limiter_state::shared_limiter_state(core_ptr session, std::string path, shared_limiter_options options)
    : options_(std::move(options)),
      share_(std::make_shared<slice_share>(session->get_scheduler(),
                                           slice_credit(options_.rate, options_.per, options_.burst, options_.slices))),
      member_(make_member(std::move(session), std::move(path), options_)) {}

error_code shared_limiter_state::begin_run() {
  auto make = [share = share_](const shard& which) { return std::make_unique<slice_career>(share, which.number); };
  auto refused = member_->begin_run(std::move(make));
  if (!refused) share_->open(member_->present_run());
  return refused;
}

awaitable<outcome<>> shared_limiter_state::run(asio::any_io_executor executor) {
  const auto mine = present_run();
  outcome<> ended;
  try {
    ended = co_await member_->run(std::move(executor));
  } catch (...) {  // no memory: those that wait for a share are told, too
    share_->close(mine);
    throw;
  }
  share_->close(mine);
  co_return ended;
}

shared_limiter_status shared_limiter_state::status() const {
  shared_limiter_status all;
  all.all = options_.slices;
  share_->show_in(all);
  all.rate = static_cast<double>(options_.rate) * all.slices / all.all;
  all.group = member_->status();
  return all;
}

}  // namespace zkrecipes::detail
