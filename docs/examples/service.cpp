// A service of several replicas: docs/service.md shows how to build, configure and run it. The library does all but the
// work, which is one function.
#include <zkrecipes/service.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace service = zkrecipes::service;

// The effect and the removal of the message are one transaction, so the effect happens once. A call to an outside
// service may be repeated after a crash: give it `item.name` (in a topic, with the number of the shard), by which it
// can tell a repetition, and `present.token()`, by which it can refuse a former leader.
boost::asio::awaitable<zkrecipes::message_outcome> process(service::surroundings& here, zkrecipes::term /*present*/,
                                                           const zkrecipes::message& item) {
  if (here.limiter) {
    co_await here.limiter->async_acquire();
    // Here stands the call. If the service says "429 Too Many Requests" and "Retry-After: 3", return
    // zkrecipes::message_outcome::hold_off(std::chrono::seconds(3), "too many requests").
  }
  co_return zkrecipes::transaction().create(here.settings.output + "/done-", item.data,
                                            zkrecipes::create_mode::persistent_sequential);
}

int main(int count, char** arguments) { return service::run(count, arguments, {process}); }
