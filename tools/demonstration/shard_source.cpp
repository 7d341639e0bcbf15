#include "shard_source.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/queue.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

class queue_backlog : public backlog {
 public:
  explicit queue_backlog(const zkrecipes::session& over) : queue_(over, queue_path) {}

  asio::awaitable<std::optional<std::uint64_t>> lag() override {
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    const auto seen = co_await queue_.async_size(token);
    if (std::get<0>(seen)) co_return std::nullopt;
    co_return std::get<1>(seen);
  }
  asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() override {
    co_return co_await queue_.async_dead_letters(asio::use_awaitable);
  }

 private:
  zkrecipes::queue queue_;
};

}  // namespace

std::unique_ptr<backlog> make_queue_backlog(const zkrecipes::session& over) {
  return std::make_unique<queue_backlog>(over);
}

shard_source_ptr make_shard_source(source_kind which, const zkrecipes::session& over, std::uint32_t shards,
                                   const std::string& broker) {
  if (which == source_kind::redis) return make_stream_source(over, shards, broker);
  if (which == source_kind::rabbitmq) return make_queue_shards(over, shards, broker);
  return std::make_unique<log_source<zkrecipes::topic>>(zkrecipes::topic(over, topic_path, topic_settings(shards)));
}

}  // namespace demo
