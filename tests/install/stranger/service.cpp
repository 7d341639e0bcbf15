#include "service.hpp"

#include <chrono>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/lock.hpp>
#include <zkrecipes/transaction.hpp>

namespace stranger {

boost::asio::awaitable<std::int64_t> write_line(zkrecipes::session zk, std::string line) {
  constexpr auto token = boost::asio::use_awaitable;
  co_await zk.async_ensure_path("/report", token);
  zkrecipes::lock lock(zk, "/report-lock", {.id = "stranger"});
  auto held = co_await lock.async_acquire_for(std::chrono::seconds(10), token);
  auto create = zkrecipes::transaction().create("/report/line-", line, zkrecipes::create_mode::persistent_sequential);
  auto fenced = held.fenced(create);
  co_await zk.async_commit(fenced, token);
  const auto written_under = held.token();
  co_await held.async_release(token);
  co_return written_under;
}

}  // namespace stranger
