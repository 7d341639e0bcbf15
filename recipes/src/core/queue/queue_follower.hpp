// Reads a queue in order without claims, one item at a time, for a client that is its only reader.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/queue_base.hpp>

#include "queue/queue_listing.hpp"

namespace zkrecipes::detail {

class queue_follower : public std::enable_shared_from_this<queue_follower> {
 public:
  explicit queue_follower(shared_frame frame);

  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }
  awaitable<outcome<message>> next();

 private:
  shared_frame frame_;
  queue_listing list_;
  std::string last_;  // the name of the item that `next` returned last
};

}  // namespace zkrecipes::detail
