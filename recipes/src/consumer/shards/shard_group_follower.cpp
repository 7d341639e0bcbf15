#include <stdexcept>
#include <utility>

#include <zkrecipes/consumer/shard_group_follower.hpp>

#include "session/make.hpp"
#include "shards/group_follower.hpp"

namespace zkrecipes {

using namespace detail;

shard_group_follower::shard_group_follower(session over, std::string path, std::chrono::milliseconds interval)
    : session_(std::move(over)) {
  require_path("shard_group_follower path", path);
  if (interval < std::chrono::milliseconds(0) || interval > std::chrono::hours(1)) {
    throw std::invalid_argument("shard_group_follower interval is " + std::to_string(interval.count()) +
                                " ms; it must be from 0 to 1 h");
  }
  follower_ = std::make_shared<group_follower>(require_session(session_), group_layout{std::move(path)}, interval);
  follower_->start();
}

shard_group_follower::shard_group_follower() noexcept = default;
shard_group_follower::shard_group_follower(shard_group_follower&&) noexcept = default;

shard_group_follower& shard_group_follower::operator=(shard_group_follower&& other) noexcept {
  if (follower_ && follower_ != other.follower_) follower_->stop_later();
  session_ = std::move(other.session_);
  follower_ = std::move(other.follower_);
  return *this;
}

shard_group_follower::~shard_group_follower() {
  if (follower_) follower_->stop_later();
}

const std::string& shard_group_follower::path() const noexcept { return follower_ ? follower_->path() : no_path(); }

void shard_group_follower::start_change(handler_for<void(error_code, shard_group_view)> h, follower_ptr follower,
                                        std::uint64_t seen) {
  launch_endless(std::move(h), std::move(follower), &group_follower::change, seen);
}

}  // namespace zkrecipes
