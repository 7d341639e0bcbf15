// Where the messages of a run with shards are: a topic, Redis streams, or queues of RabbitMQ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>

#include "roles.hpp"

namespace demo {

/// The messages of a source that are not settled.
class backlog {
 public:
  virtual ~backlog() = default;

  /// Messages that are still to be consumed; nothing if it can not be told at the moment.
  virtual boost::asio::awaitable<std::optional<std::uint64_t>> lag() = 0;
  /// Whether `lag` counts the messages that a consumer has in hand, too.
  virtual bool counts_in_hand() const noexcept { return true; }
  virtual boost::asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() = 0;
};

/// The backlog of the queue.
std::unique_ptr<backlog> make_queue_backlog(const zkrecipes::session& over);

class shard_source : public backlog {
 public:
  virtual zkrecipes::message_feed feed(std::uint32_t shard) const = 0;
};

using shard_source_ptr = std::unique_ptr<shard_source>;

/// That of a topic, or of the broker at this address. \throws std::invalid_argument if this was built without its
/// component.
shard_source_ptr make_shard_source(source_kind which, const zkrecipes::session& over, std::uint32_t shards,
                                   const std::string& broker);

/// \throws std::invalid_argument if this was built without the component `redis`.
shard_source_ptr make_stream_source(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker);

/// \throws std::invalid_argument if this was built without the component `rabbitmq`.
shard_source_ptr make_queue_shards(const zkrecipes::session& over, std::uint32_t shards, const std::string& broker);

/// For a source whose component was not built. `package`: the one of Debian 12 that it needs.
[[noreturn]] inline void refuse_source(source_kind which, const std::string& package) {
  throw std::invalid_argument("--source " + name_of(which) + ": built without it. On Debian 12: apt-get install " +
                              package);
}

/// What `Log` tells of a group: `zkrecipes::topic`, `zkrecipes::redis_streams`, or `zkrecipes::rabbit_queues`.
template <class Log>
class group_source : public shard_source {
 public:
  group_source(Log log, std::string group) : log_(std::move(log)), group_(std::move(group)) {}

  boost::asio::awaitable<std::optional<std::uint64_t>> lag() override {
    constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
    const auto seen = co_await log_.async_lag(group_, token);
    if (std::get<0>(seen)) co_return std::nullopt;
    std::uint64_t sum = 0;
    for (const auto& each : std::get<1>(seen)) sum += each.messages;
    co_return sum;
  }
  boost::asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() override {
    co_return co_await log_.async_dead_letters(group_, boost::asio::use_awaitable);
  }

 protected:
  Log log_;
  const std::string group_;
};

/// One that gives the messages of a shard to each group.
template <class Log>
class log_source : public group_source<Log> {
 public:
  explicit log_source(Log log) : group_source<Log>(std::move(log), source_group) {}

  zkrecipes::message_feed feed(std::uint32_t shard) const override { return this->log_.feed(shard, this->group_); }
};

}  // namespace demo
