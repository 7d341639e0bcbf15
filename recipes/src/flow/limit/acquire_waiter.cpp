#include "limit/acquire_waiter.hpp"

#include <utility>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

acquire_waiter_ptr make_waiter(const scheduler& on, acquire_handler handler, std::int64_t cost, ticks came,
                               ticks deadline) {
  auto target = target_of(handler, on);
  return std::make_shared<acquire_waiter>(
      acquire_waiter{std::move(handler), std::move(target), cost, came, deadline, false, {}});
}

void complete(const scheduler& on, acquire_waiter& which, error_code why) {
  auto call = [handler = std::make_shared<acquire_handler>(std::move(which.handler)), why] {
    std::move (*handler)(why);
  };
  asio::post(on.base, [target = std::move(which.target), call = std::move(call)]() mutable {
    asio::dispatch(target, std::move(call));
  });
}

}  // namespace zkrecipes::detail
