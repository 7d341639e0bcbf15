// The messages of one stream, for one group: a log with a position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/stream_reader.hpp"
#include "topic/log_source.hpp"

namespace zkrecipes::detail {

class redis_source final : public log_source {
 public:
  redis_source(redis_frame_ptr frame, std::uint32_t shard, std::string group);

  std::string name() const override;
  awaitable<error_code> open() override;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override { return reader_.receive(most); }
  std::string problem_of(const std::string& name) const override { return reader_.problem_of(name); }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override {
    return reader_.read_again(std::move(names));
  }
  bool can_read_again() const noexcept override { return true; }
  bool wants_write() const noexcept override { return reader_.wants_write(); }
  transaction moving_on(const std::vector<settlement>& batch) override;
  bool adapt(std::size_t operation, const error_code& why) override;
  awaitable<void> settled(std::vector<settlement> batch) override;
  awaitable<void> close() override;

 private:
  static void apply(stream_progress& to, const settlement& each);

  redis_frame_ptr frame_;
  stream_reader reader_;
};

}  // namespace zkrecipes::detail
