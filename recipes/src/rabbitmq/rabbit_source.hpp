// The messages of one queue: a log whose position is a memory of what is settled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rabbitmq/queue_reader.hpp"
#include "topic/log_source.hpp"

namespace zkrecipes::detail {

/// The broker gives a message once to a consumer that lives, so the reader keeps those that are not settled.
class rabbit_source final : public log_source {
 public:
  rabbit_source(rabbit_frame_ptr frame, std::uint32_t shard);

  void note_order(message_order order) override { reader_.note_order(order); }
  std::string name() const override;
  awaitable<error_code> open() override;
  bool is_outdated() const noexcept override { return reader_.is_outdated(); }
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override { return reader_.receive(most); }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override;
  bool can_read_again() const noexcept override { return true; }
  bool can_come(const std::string& name) const override { return reader_.can_come(name); }
  transaction moving_on(const std::vector<settlement>& batch) override;
  bool adapt(std::size_t operation, const error_code& why) override;
  awaitable<void> settled(std::vector<settlement> batch) override;
  void let_go() override { reader_.let_go(); }
  awaitable<void> close() override;

 private:
  rabbit_frame_ptr frame_;
  queue_reader reader_;
};

}  // namespace zkrecipes::detail
