// Reads a queue in order without claims, for a client that is its only reader, such as a leader.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>

#include <zkrecipes/queue_types.hpp>

#include "queue/queue_frame.hpp"
#include "session/back_off.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class queue_follower : public std::enable_shared_from_this<queue_follower> {
 public:
  explicit queue_follower(shared_frame frame);

  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }
  awaitable<outcome<message>> next();

 private:
  awaitable<error_code> list();
  awaitable<error_code> rest();
  void drop_item(const std::string& name);
  void skip(const std::string& name, error_code why);
  backend::request read(const std::string& name) const;

  shared_frame frame_;
  std::deque<entry> items_;  // in order, as last listed, less those seen to be gone
  std::set<std::string> skipped_;
  std::string last_;      // the name of the item that `next` returned last
  bool is_ours_ = false;  // a list has shown that no other recipe uses the path
  condition changed_;
  back_off pause_;
};

}  // namespace zkrecipes::detail
