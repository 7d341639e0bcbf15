#include "shard_role.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "library_metrics.hpp"
#include "shard_worker.hpp"

namespace service {

shard_role::shard_role(const zkrecipes::topic& from, const configuration& settings, work_settings work)
    : topic_(from),
      name_(settings.consumers),
      options_(settings.consumer),
      work_(std::move(work)),
      group_(from.get_session(), settings.group, {.id = settings.id, .shards = settings.shards}) {}

boost::asio::awaitable<zkrecipes::error_code> shard_role::run() {
  auto make = [this](const zkrecipes::shard& which) -> std::unique_ptr<zkrecipes::leader_career> {
    return std::make_unique<shard_worker>(topic_.feed(which.number, name_), options_, work_, totals_);
  };
  auto [error] = co_await group_.async_run(std::move(make), boost::asio::as_tuple(boost::asio::use_awaitable));
  co_return error;
}

void shard_role::add_to(metrics_page& page) const {
  add_metrics(page, group_.status());
  add_metrics(page, totals_->sum());
}

}  // namespace service
