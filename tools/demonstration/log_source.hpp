#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "roles.hpp"
#include "shard_source.hpp"
#include "source_kind.hpp"

namespace demo {

/// For a source whose component was not built. `package`: the one of Debian 12 that it needs.
[[noreturn]] inline void refuse_source(source_kind which, const std::string& package) {
  throw std::invalid_argument("--source " + name_of(which) + ": built without it. On Debian 12: apt-get install " +
                              package);
}

/// `Log`: `zkrecipes::topic`, or `zkrecipes::redis_streams`.
template <class Log>
class log_source : public shard_source {
 public:
  explicit log_source(Log log) : log_(std::move(log)) {}

  zkrecipes::message_feed feed(std::uint32_t shard) const override { return log_.feed(shard, source_group); }
  boost::asio::awaitable<std::optional<std::uint64_t>> lag() override {
    const std::string group = source_group;
    constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
    const auto seen = co_await log_.async_lag(group, token);
    if (std::get<0>(seen)) co_return std::nullopt;
    std::uint64_t sum = 0;
    for (const auto& each : std::get<1>(seen)) sum += each.messages;
    co_return sum;
  }
  boost::asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() override {
    const std::string group = source_group;
    co_return co_await log_.async_dead_letters(group, boost::asio::use_awaitable);
  }

 private:
  Log log_;
};

}  // namespace demo
