// The implementation of a topic object: what operators ask, and what they change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_types.hpp>
#include <zkrecipes/queue_base.hpp>

#include "topic/log_position.hpp"
#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

class topic_core : public std::enable_shared_from_this<topic_core> {
 public:
  explicit topic_core(topic_frame_ptr frame) : frame_(std::move(frame)) {}

  const topic_frame_ptr& frame() const noexcept { return frame_; }
  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }

  awaitable<outcome<>> seek(std::uint32_t shard, std::string group, topic_position where);
  awaitable<outcome<std::vector<topic_lag>>> lag(std::string group);
  awaitable<outcome<std::vector<topic_shard>>> shards();
  awaitable<outcome<std::vector<dead_letter>>> dead_letters(std::string group);
  awaitable<outcome<>> revive(std::string group, dead_letter which);
  awaitable<outcome<>> discard(std::string group, dead_letter which);

 private:
  awaitable<outcome<log_position>> position_at(std::uint32_t shard, topic_position where);
  awaitable<error_code> add_lags(std::uint32_t from, std::uint32_t to, const std::string& group,
                                 std::vector<topic_lag>& into);
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> what);

  topic_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
