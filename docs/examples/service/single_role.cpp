#include "single_role.hpp"

#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "library_metrics.hpp"

namespace service {

using zkrecipes::coordinator_phase;

single_role::single_role(zkrecipes::session over, const configuration& settings, work_settings work)
    : worker_(zkrecipes::queue(over, settings.input), settings.consumer, std::move(work)),
      coordinator_(over, settings.group, {.id = settings.id}) {}

boost::asio::awaitable<zkrecipes::error_code> single_role::run() {
  auto [error] = co_await coordinator_.async_run(worker_, boost::asio::as_tuple(boost::asio::use_awaitable));
  co_return error;
}

bool single_role::takes_part(const zkrecipes::coordinator_status& now) {
  return now.ahead.has_value() || now.phase == coordinator_phase::executing;
}

std::string single_role::describe(const zkrecipes::coordinator_status& now) {
  if (now.phase == coordinator_phase::handing_over) return "handing over";
  if (!takes_part(now)) return "starting";
  return now.phase == coordinator_phase::executing ? "leader" : "standby";
}

std::string single_role::failure() const {
  try {
    if (const auto failure = coordinator_.failure()) std::rethrow_exception(failure);
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return {};
}

void single_role::add_to(metrics_page& page) const {
  add_metrics(page, coordinator_.status());
  add_metrics(page, worker_.status());
}

}  // namespace service
