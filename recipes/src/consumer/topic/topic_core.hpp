// The implementation of a topic object: what operators ask, and what they change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/consumer/topic.hpp>

#include "source/source_core.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

class topic_core final : public source_core {
 public:
  explicit topic_core(topic_frame_ptr frame);

  awaitable<outcome<std::vector<topic_shard>>> shards();

 private:
  awaitable<outcome<std::string>> record_at(std::uint32_t shard, source_position where, std::string seek) override;
  awaitable<error_code> read_lags(std::string group, std::vector<source_lag>& into) override;
  awaitable<outcome<>> put_back(std::uint32_t shard, std::string group, dead_letter which) override;
  awaitable<error_code> add_lags(std::uint32_t from, std::uint32_t to, const std::string& group,
                                 std::vector<source_lag>& into);
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> what);

  topic_frame_ptr topic_;
};

}  // namespace zkrecipes::detail
