#include "shard_source.hpp"

#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

class topic_source : public shard_source {
 public:
  topic_source(const zkrecipes::session& over, std::uint32_t shards)
      : topic_(over, topic_path, topic_settings(shards)) {}

  zkrecipes::message_feed feed(std::uint32_t shard) const override { return topic_.feed(shard, source_group); }
  asio::awaitable<std::optional<std::uint64_t>> lag() override {
    const std::string group = source_group;
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    const auto seen = co_await topic_.async_lag(group, token);
    if (std::get<0>(seen)) co_return std::nullopt;
    std::uint64_t sum = 0;
    for (const auto& each : std::get<1>(seen)) sum += each.messages;
    co_return sum;
  }
  asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() override {
    const std::string group = source_group;
    co_return co_await topic_.async_dead_letters(group, asio::use_awaitable);
  }

 private:
  zkrecipes::topic topic_;
};

}  // namespace

shard_source_ptr make_shard_source(source_kind which, const zkrecipes::session& over, std::uint32_t shards,
                                   const std::string& broker) {
  if (which == source_kind::topic) return std::make_unique<topic_source>(over, shards);
  return make_stream_source(over, shards, broker);
}

}  // namespace demo
