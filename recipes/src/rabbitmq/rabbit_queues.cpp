#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "broker/broker_connection.hpp"
#include "rabbitmq/queue_reader.hpp"
#include "rabbitmq/rabbit_core.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "source/log_source.hpp"

namespace zkrecipes {

namespace {

const char* rabbit_text_of(rabbit_errc value) noexcept {
  switch (value) {
    case rabbit_errc::unavailable: return "the broker does not serve the queue at present";
    case rabbit_errc::refused_credentials: return "the broker refuses the credentials, or the user may not do it";
    case rabbit_errc::refused: return "the broker refuses a request";
    case rabbit_errc::unexpected_reply: return "a reply is not one of RabbitMQ";
    case rabbit_errc::missing_queue: return "the queue has gone, and its messages with it";
    case rabbit_errc::other_queue: return "a queue of this name has other arguments";
  }
  return "unknown error";
}

struct rabbit_errors final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.rabbitmq"; }
  std::string message(int value) const override { return rabbit_text_of(static_cast<rabbit_errc>(value)); }
};

}  // namespace

const boost::system::error_category& rabbit_category() noexcept {
  static const rabbit_errors instance;
  return instance;
}

error_code make_error_code(rabbit_errc value) noexcept { return {static_cast<int>(value), rabbit_category()}; }

}  // namespace zkrecipes

namespace zkrecipes::detail {

/// The messages of one queue: a log whose position is a memory of what is settled.
/// The broker gives a message once to a consumer that lives, so the reader keeps those that are not settled.
class rabbit_source final : public log_source {
 public:
  rabbit_source(rabbit_frame_ptr frame, std::uint32_t shard);

  void set_order(message_order order) override { reader_.set_order(order); }
  std::string name() const override;
  awaitable<error_code> open() override;
  bool is_outdated() const noexcept override { return reader_.is_outdated(); }
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override { return reader_.receive(most); }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override;
  bool can_come(const std::string& name) const override { return reader_.can_come(name); }
  std::string problem_of(const std::string& name) const override { return reader_.progress().problem_of(name); }
  transaction moving_on(const std::vector<settlement>& batch) override;
  awaitable<void> settled(std::vector<settlement> batch) override;
  void let_go() override { reader_.let_go(); }
  awaitable<void> close() override;

 private:
  rabbit_frame_ptr frame_;
  queue_reader reader_;
};

rabbit_source::rabbit_source(rabbit_frame_ptr frame, std::uint32_t shard)
    : log_source(frame, shard, frame->only_group), frame_(std::move(frame)), reader_(frame_, shard, position()) {}

std::string rabbit_source::name() const { return "rabbitmq queue " + frame_->queue(shard()); }

awaitable<error_code> rabbit_source::open() {
  reader_.open();
  co_return error_code();
}

awaitable<void> rabbit_source::close() { co_await reader_.close(); }

awaitable<outcome<std::vector<std::optional<message>>>> rabbit_source::read_again(std::vector<std::string> names) {
  co_return outcome<std::vector<std::optional<message>>>(error_code(), reader_.read_again(std::move(names)));
}

/// One write of the memory from its known version, whatever the number of messages.
transaction rabbit_source::moving_on(const std::vector<settlement>& batch) {
  transaction all;
  if (batch.empty()) return all;
  auto next = reader_.progress().memory();
  for (const auto& each : batch) {
    const bool is_failure = each.how == settlement::kind::count_attempt;
    if (is_failure) next.fail(each.what->name, each.first_failed);
    if (!is_failure) reader_.progress().apply(next, each.what->name);
  }
  position().write(all, serialize(next));
  return all;
}

awaitable<void> rabbit_source::settled(std::vector<settlement> batch) {
  for (const auto& each : batch) {
    const bool is_failure = each.how == settlement::kind::count_attempt;
    if (is_failure) reader_.progress().fail(each.what->name, each.first_failed);
    if (!is_failure) reader_.settle(each.what->name);
  }
  position().on_written();
  reader_.acknowledge();
  co_return;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

bool is_short_text(const std::string& text, std::size_t most) { return !text.empty() && text.size() <= most; }

void check_rabbit(const broker_settings& check, const rabbit_options& options) {
  check.require_login(options.user, options.password);
  check.require(is_short_text(options.user, 255), "user", "it must have 1 to 255 bytes");
  const bool is_host = is_short_text(options.virtual_host, 255) && !has_nul(options.virtual_host);
  check.require(is_host, "virtual_host", "it must have 1 to 255 bytes, and no NUL byte");
  const bool is_queue = is_short_text(options.queue, 200) && !has_control(options.queue);
  check.require(is_queue, "queue", "it must have 1 to 200 bytes without control characters");
  check.require_shards(options.shards);
  check.require(is_short_text(options.key_header, 128), "key_header", "it must have 1 to 128 bytes");
  const auto prefetch = options.prefetch.value_or(1);
  const bool is_ahead = prefetch >= 1 && prefetch <= 1'000;
  check.require(is_ahead, "prefetch", "it must be 1 to 1 000");
  check.require_times(options.timeout, options.retry);
  const bool is_beat = options.heartbeat >= 1s && options.heartbeat <= 10min;
  check.require(is_beat, "heartbeat", "it must be 1 s to 10 min");
  const bool is_stall = options.stall_timeout >= 100ms && options.stall_timeout <= 1h;
  check.require(is_stall, "stall_timeout", "it must be 100 ms to 1 h");
}

broker_frame rabbit_broker_of(const broker_settings& check, const rabbit_options& options) {
  auto frame = check.frame_of(options, "rabbitmq", options.tls ? 5671 : 5672);
  frame.unavailable = rabbit_errc::unavailable;
  frame.refused_credentials = rabbit_errc::refused_credentials;
  frame.may_recover = &may_recover_rabbit;
  return frame;
}

source_base::core_ptr make_queues(const session& over, std::string path, rabbit_options options) {
  require_path("rabbit_queues path", path);
  const broker_settings check("rabbit_options");
  check_rabbit(check, options);
  auto broker = rabbit_broker_of(check, options);
  broker.session = require_session(over);
  auto record = record_of_source("rabbit_queues", options.shards);
  record.set("queue", options.queue);
  source_frame source{broker.session, {std::move(path)}, std::move(record), options.shards, source_base::queue_group};
  rabbit_frame frame{std::move(source), std::move(broker), std::move(options)};
  return std::make_shared<rabbit_core>(std::make_shared<rabbit_frame>(std::move(frame)));
}

}  // namespace

rabbit_queues::rabbit_queues(session over, std::string path, rabbit_options options)
    : source_base(over, make_queues(over, std::move(path), std::move(options))) {}

std::string rabbit_queues::queue_of(std::uint32_t shard) const {
  const auto frame = frame_of<rabbit_frame>(*this);
  return frame ? frame->queue(shard) : std::string();
}

const rabbit_options& rabbit_queues::options() const noexcept { return options_of<rabbit_frame>(*this); }

message_feed rabbit_queues::feed(std::uint32_t shard) const {
  require_shard(*this, "rabbit_queues", shard);
  return message_feed(get_session(), std::make_shared<rabbit_source>(frame_of<rabbit_frame>(*this), shard));
}

}  // namespace zkrecipes
