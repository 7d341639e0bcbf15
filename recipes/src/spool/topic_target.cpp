#include "spool/topic_target.hpp"

#include <utility>

#include <boost/asio/bind_executor.hpp>

namespace zkrecipes::detail {

namespace {

producer_target::bounds bounds_of(const topic& into) {
  return {.longest_key = 1'000,
          .room_for_path = into.path().size() > 1'000 ? 50'000u : 0u,
          .most_messages = 32'000,
          .most_bytes = std::size_t{4} << 20};
}

}  // namespace

topic_target::topic_target(const topic& into, const std::string& name)
    : producer_target(into.get_session(), bounds_of(into)), producer_(into, name) {}

void topic_target::last(handler done) { producer_.async_last(ask(std::move(done))); }

void topic_target::put(std::vector<spool_row> what, handler done) {
  std::vector<topic_message> all;
  all.reserve(what.size());
  for (auto& each : what) all.push_back({std::move(each.key), std::move(each.data)});
  producer_.async_put_all(std::move(all), boost::asio::bind_executor(strand(), std::move(done)));
}

}  // namespace zkrecipes::detail
