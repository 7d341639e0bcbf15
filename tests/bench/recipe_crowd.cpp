#include "recipe_crowd.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "support/cluster.hpp"
#include "support/coroutine.hpp"

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace std::chrono_literals;
using namespace zkrecipes::test;
using zkrecipes::create_mode;

namespace {

constexpr const char* lock_name = "_c_6ba7b810-9dad-11d1-80b4-00c04fd430c8-lock-";

}  // namespace

recipe_crowd::recipe_crowd(asio::io_context& io, std::string root, int locks, int queues, int topics)
    : io_(io),
      root_(std::move(root)),
      locks_(locks),
      session_(io.get_executor(), {.hosts = join_hosts(direct_hosts()), .timeout = 30s}) {
  run_coroutine(io_, make(queues, topics), 2min);
}

recipe_crowd::~recipe_crowd() { run_coroutine(io_, close()); }

awaitable<bool> recipe_crowd::make(int queues, int topics) {
  for (int i = 0; i < locks_; ++i) co_await make_line(root_ + "/lock-" + std::to_string(i), lock_name, 3, true);
  for (int i = 0; i < queues; ++i) co_await make_line(root_ + "/queue-" + std::to_string(i), "qn-", 10, false);
  for (int i = 0; i < topics; ++i) co_await make_topic(root_ + "/topic-" + std::to_string(i));
  co_return true;
}

awaitable<void> recipe_crowd::make_line(std::string path, std::string name, int members, bool is_ephemeral) {
  const auto mode = is_ephemeral ? create_mode::ephemeral_sequential : create_mode::persistent_sequential;
  co_await session_.async_ensure_path(path, use_awaitable);
  for (int i = 0; i < members; ++i) co_await session_.async_create(path + "/" + name, "", mode, use_awaitable);
}

awaitable<void> recipe_crowd::make_topic(std::string path) {
  zkrecipes::topic_options with;
  with.shards = 8;
  zkrecipes::topic log(session_, path, with);
  zkrecipes::topic_producer by(log, "bench");
  for (int i = 0; i < 20; ++i) co_await by.async_put(std::to_string(i), "x", use_awaitable);
  for (std::uint32_t i = 0; i < 8; ++i)
    co_await log.async_seek(i, "group", zkrecipes::source_position::begin(), use_awaitable);
}

void recipe_crowd::change() {
  const auto path = root_ + "/lock-" + std::to_string(next_);
  next_ = (next_ + 1) % locks_;
  asio::co_spawn(io_, pass_on(path), asio::detached);
}

awaitable<void> recipe_crowd::pass_on(std::string path) {
  auto all = co_await session_.async_children(path, use_awaitable);
  const auto first = path + "/" + *std::min_element(all.names.begin(), all.names.end());
  co_await session_.async_remove(first, zkrecipes::any_version, use_awaitable);
  co_await session_.async_create(path + "/" + lock_name, "", create_mode::ephemeral_sequential, use_awaitable);
}

awaitable<bool> recipe_crowd::close() {
  co_await session_.async_close(use_awaitable);
  co_return true;
}

}  // namespace bench
