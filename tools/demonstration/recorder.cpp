#include "recorder.hpp"

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace demo {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t folder_limit = 10'000;
/// With shards each message takes this long, so that faults hit messages in hand although there are many owners.
constexpr std::chrono::milliseconds shard_work(25);

zkrecipes::queue_consumer_options work_options(const consumer_settings& of) {
  const auto order = of.order;
  zkrecipes::queue_consumer_options how;
  how.order = order;
  how.key = [](const zkrecipes::message& item) { return parse_message(item.data).key; };
  if (of.defaults) return how;
  how.window = order == zkrecipes::message_order::strict ? 64 : 256;
  how.parallel = order == zkrecipes::message_order::strict ? 1 : 8;
  how.retry = {.first = 50ms, .longest = 1s, .factor = 2, .attempts = attempts_limit, .outage = 1s};
  return how;
}

}  // namespace

recorder::recorder(zkrecipes::queue from, const consumer_settings& how, phase_log& log)
    : queue_consumer(std::move(from), work_options(how)),
      id_(how.id),
      log_(log),
      deadline_(how.deadline),
      has_defaults_(how.defaults),
      outage_(how.folder / outage_file) {}

recorder::recorder(const zkrecipes::message_feed& from, const consumer_settings& how, phase_log& log,
                   std::uint32_t shard)
    : queue_consumer(from, work_options(how)),
      id_(how.id),
      log_(log),
      deadline_(how.deadline),
      work_(how.shards > 0 ? shard_work : std::chrono::milliseconds(0)),
      shard_(shard),
      has_defaults_(how.defaults),
      outage_(how.folder / outage_file) {}

zkrecipes::career_traits recorder::traits() const {
  if (has_defaults_) return {};
  return {.hand_over_deadline = deadline_, .stall_limit = 20s};
}

asio::awaitable<void> recorder::inaugurate(zkrecipes::term present) {
  folders_ = 0;
  co_await begin_folder(present);
}

/// The other calls of `process` use the folder before until the new one is there.
asio::awaitable<void> recorder::begin_folder(zkrecipes::term present) {
  char name[48];
  std::snprintf(name, sizeof name, "/%04u-%010lld-%04llu", static_cast<unsigned>(shard_),
                static_cast<long long>(present.epoch()), static_cast<unsigned long long>(folders_++));
  const std::string path = results_path + std::string(name);
  auto session = present.get_session();
  results_ = 0;
  co_await session.async_ensure_path(path, asio::use_awaitable);
  folder_ = path;
}

asio::awaitable<zkrecipes::message_outcome> recorder::process(zkrecipes::term present, const zkrecipes::message& item) {
  const auto what = parse_message(item.data);
  if (what.kind == message_kind::killer) {
    log_.record(mark_of_process(id_, lived));  // nobody can tell later until when
    std::raise(SIGKILL);
  }
  if (what.kind == message_kind::poison) {
    throw std::runtime_error("message " + std::to_string(what.number) + " is poison");
  }
  if (work_ > 0ms) {
    asio::steady_timer work(present.get_executor(), work_);
    co_await work.async_wait(asio::use_awaitable);
  }
  if (std::filesystem::exists(outage_)) throw std::runtime_error("the database is away");
  if (++results_ > folder_limit) co_await begin_folder(present);
  zkrecipes::transaction effects;
  const auto text =
      std::to_string(present.epoch()) + ' ' + id_ + ' ' + std::to_string(what.number) + ' ' + std::to_string(shard_);
  effects.create(folder_ + "/r-", text, zkrecipes::create_mode::persistent_sequential);
  co_return effects;
}

}  // namespace demo
