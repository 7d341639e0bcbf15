#include "base/tasks.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <tuple>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zkadmin {
namespace {

namespace asio = boost::asio;

struct work {
  work(const asio::any_io_executor& executor, std::size_t total, std::function<asio::awaitable<void>(std::size_t)> each)
      : count(total), task(std::move(each)), done(executor, asio::steady_timer::time_point::max()) {}

  std::size_t count;
  std::function<asio::awaitable<void>(std::size_t)> task;
  std::size_t next = 0;
  std::size_t workers = 0;
  std::exception_ptr error;
  asio::steady_timer done;  // Cancelled by the last worker.
};

asio::awaitable<void> run_worker(std::shared_ptr<work> shared) {
  try {
    while (shared->next < shared->count && !shared->error) co_await shared->task(shared->next++);
  } catch (...) {
    if (!shared->error) shared->error = std::current_exception();
  }
  if (--shared->workers == 0) shared->done.cancel();
}

}  // namespace

asio::awaitable<void> for_each_index(std::size_t count, std::size_t width,
                                     std::function<asio::awaitable<void>(std::size_t)> task) {
  const auto executor = co_await asio::this_coro::executor;
  const auto shared = std::make_shared<work>(executor, count, std::move(task));
  shared->workers = std::min(count, width);
  if (count == 0) co_return;
  for (std::size_t i = std::min(count, width); i > 0; --i) asio::co_spawn(executor, run_worker(shared), asio::detached);
  // The tasks use what the caller owns. So a cancellation, which would end the wait by an exception, takes effect
  // behind it only.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  while (shared->workers > 0) co_await shared->done.async_wait(as_result);
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (shared->error) std::rethrow_exception(shared->error);
}

}  // namespace zkadmin
