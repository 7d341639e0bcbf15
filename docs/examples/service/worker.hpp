// The work of the service: this is the file to change.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace service {

/// The settings that all workers of a process share.
struct work_settings {
  std::string output{};  ///< Effects are nodes below this path.
  std::chrono::milliseconds hand_over{};
  std::optional<zkrecipes::limiter> limiter{};  ///< One for the process: copies stand for the same.
};

/// Processes messages, of the whole queue or of one shard.
class worker : public zkrecipes::queue_consumer {
 public:
  worker(const zkrecipes::queue_base& from, zkrecipes::queue_consumer_options options, work_settings settings);
  worker(const zkrecipes::message_feed& from, zkrecipes::queue_consumer_options options, work_settings settings);

  zkrecipes::career_traits traits() const override;
  boost::asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term present,
                                                             const zkrecipes::message& item) override;

 private:
  const work_settings settings_;
};

}  // namespace service
