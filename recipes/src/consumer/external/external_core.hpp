// The implementation of an object of `external_source`: what operators ask, and what they change.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "external/external_frame.hpp"

namespace zkrecipes::detail {

class external_core : public std::enable_shared_from_this<external_core> {
 public:
  explicit external_core(external_frame_ptr frame) : frame_(std::move(frame)) {}

  const external_frame_ptr& frame() const noexcept { return frame_; }
  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }

  awaitable<outcome<std::vector<dead_letter>>> dead_letters(std::string group);
  awaitable<outcome<>> discard(std::string group, dead_letter which);

 private:
  external_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
