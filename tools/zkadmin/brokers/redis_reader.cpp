// What waits in Redis streams.
#include <stdexcept>
#include <utility>

#include <zkrecipes/redis/redis_streams.hpp>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "brokers/broker_reader.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::error_code;

std::uint32_t database_of(const std::string& space) {
  const auto database = space.empty() ? 0 : read_number<std::uint32_t>(space);
  if (!database) throw std::invalid_argument("expected the number of a database behind the slash");
  return *database;
}

zkrecipes::redis_options options_of(const broker_place& place, const stream_status& of) {
  zkrecipes::redis_options options;
  options.hosts = place.hosts;
  options.user = place.user.value_or("");
  options.password = place.password;
  options.database = database_of(place.space);
  options.tls = place.tls;
  options.stream = of.name;
  options.shards = of.shards;
  options.timeout = place.share;
  return options;
}

/// The name of a group that nobody uses. Without groups its lag is read: it has consumed nothing, so its lag is the
/// whole stream.
constexpr const char* no_group = "_";

}  // namespace

asio::awaitable<error_code> read_redis(zkrecipes::session session, const broker_place& place, const stream_status& of,
                                       broker_status& into) {
  zkrecipes::redis_streams streams(std::move(session), of.path, options_of(place, of));
  std::vector<std::string> groups;
  for (const auto& each : of.groups) groups.push_back(each.name);
  const bool is_unused = groups.empty();
  if (is_unused) groups.push_back(no_group);
  for (const auto& group : groups) {
    auto lagging = co_await streams.async_lag(group, as_result);
    const error_code error = std::get<0>(lagging);
    if (error) co_return error;
    for (const auto& each : std::get<1>(lagging)) {
      shard_depth_status depth{each.shard, is_unused ? std::string() : group, each.messages, each.is_more};
      if (each.messages > 0) depth.oldest = each.oldest;
      into.depths.push_back(std::move(depth));
    }
  }
  co_return error_code();
}

bool is_redis_away(const error_code& error) noexcept { return error == zkrecipes::redis_errc::unavailable; }

}  // namespace zkadmin
