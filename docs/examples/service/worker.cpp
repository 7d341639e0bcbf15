#include "worker.hpp"

#include <utility>

namespace service {

worker::worker(const zkrecipes::queue_base& from, zkrecipes::queue_consumer_options options, work_settings settings)
    : queue_consumer(from, std::move(options)), settings_(std::move(settings)) {}

worker::worker(const zkrecipes::message_feed& from, zkrecipes::queue_consumer_options options, work_settings settings)
    : queue_consumer(from, std::move(options)), settings_(std::move(settings)) {}

zkrecipes::career_traits worker::traits() const { return {.hand_over_deadline = settings_.hand_over}; }

// The effect and the removal of the message are one transaction, so the effect happens once. A call to an outside
// service may be repeated after a crash: give it `item.name` (in a topic, with the number of the shard), by which it
// can tell a repetition, and `present.token()`, by which it can refuse a former leader.
boost::asio::awaitable<zkrecipes::message_outcome> worker::process(zkrecipes::term /*present*/,
                                                                   const zkrecipes::message& item) {
  if (settings_.limiter) {
    auto limiter = *settings_.limiter;
    co_await limiter.async_acquire();
    // Here stands the call. If the service says "429 Too Many Requests" and "Retry-After: 3", return
    // zkrecipes::message_outcome::hold_off(std::chrono::seconds(3), "too many requests").
  }
  co_return zkrecipes::transaction().create(settings_.output + "/done-", item.data,
                                            zkrecipes::create_mode::persistent_sequential);
}

}  // namespace service
