#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "external/external_frame.hpp"
#include "external/external_message_source.hpp"
#include "external/external_port.hpp"
#include "external/place_progress.hpp"
#include "external/remembered_ids.hpp"
#include "session/make.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

/// The messages of one shard of a user's queue.
class external_queue_source final : public external_message_source {
 public:
  external_queue_source(external_frame_ptr frame, std::shared_ptr<external_queue> from, std::uint32_t shard);

 private:
  std::string first_record() const override { return serialize(delivery_memory()); }
  bool load(std::string_view record) override { return memory_.load(record); }
  std::string record_after(const std::vector<settlement>& batch) const override;
  void settle(const std::vector<settlement>& batch) override;
  bool admit(const std::string& id) override;
  failed_attempts failed(const std::string& id) const override { return memory_.failed(id); }
  void take_news() override;
  void apply(remembered_ids& to, const std::vector<settlement>& batch) const;

  remembered_ids memory_;
};

/// The calls of a user's queue.
class queue_port final : public external_port {
 public:
  explicit queue_port(std::shared_ptr<external_queue> of) : of_(std::move(of)) {}

  std::string name() const override { return of_->name(); }
  awaitable<error_code> open(std::string) override { return of_->open(); }
  awaitable<external_batch> receive(std::size_t most) override { return of_->receive(most); }
  awaitable<error_code> report(std::vector<std::string> settled) override {
    return of_->acknowledge(std::move(settled));
  }
  std::vector<std::string> take_forgotten() override { return of_->take_forgotten(); }
  awaitable<void> close() override { return of_->close(); }

 private:
  std::shared_ptr<external_queue> of_;
};

external_queue_source::external_queue_source(external_frame_ptr frame, std::shared_ptr<external_queue> from,
                                             std::uint32_t shard)
    : external_message_source(std::move(frame), shard, external_source::queue_group,
                              std::make_unique<queue_port>(std::move(from))),
      memory_(options().remembered) {}

/// One that is delivered again although it is settled is acknowledged again.
bool external_queue_source::admit(const std::string& id) {
  const bool is_settled = memory_.knows(id);
  if (is_settled) connection().report({id});
  return !is_settled;
}

std::string external_queue_source::record_after(const std::vector<settlement>& batch) const {
  auto next = memory_;
  apply(next, batch);
  return next.record();
}

/// Two messages with one id count as one, so it is acknowledged as often as it was given.
void external_queue_source::settle(const std::vector<settlement>& batch) {
  apply(memory_, batch);
  std::vector<std::string> ids;
  for (const auto& each : batch) {
    if (each.how == settlement::kind::count_attempt) continue;
    const auto& id = each.what->name;
    ids.insert(ids.end(), std::max<std::size_t>(held().deliveries(id), 1), id);
  }
  connection().report(std::move(ids));
}

void external_queue_source::take_news() {
  for (const auto& each : connection().take_forgotten()) memory_.forget(each);
}

void external_queue_source::apply(remembered_ids& to, const std::vector<settlement>& batch) const {
  for (const auto& each : batch) {
    const auto& id = each.what->name;
    if (each.how == settlement::kind::count_attempt)
      to.fail(id, each.first_failed, held());
    else
      to.settle(id);
  }
}

/// The messages of one shard of a user's log, for one group.
class external_log_source final : public external_message_source {
 public:
  external_log_source(external_frame_ptr frame, std::shared_ptr<external_log> from, std::uint32_t shard,
                      std::string group);

 private:
  std::string first_record() const override;
  bool load(std::string_view record) override;
  std::string record_after(const std::vector<settlement>& batch) const override;
  void settle(const std::vector<settlement>& batch) override;
  bool admit(const std::string& id) override;
  failed_attempts failed(const std::string& id) const override { return progress_.failed(id); }
  bool is_far_ahead() const override { return progress_.is_far_ahead(); }
  std::string place() const override { return cursor_; }
  static void apply(place_progress& to, const std::vector<settlement>& batch);

  place_progress progress_;
  std::string cursor_;  // the place of the last message that has come, or behind which nothing was read
};

/// The calls of a user's log.
class log_port final : public external_port {
 public:
  explicit log_port(std::shared_ptr<external_log> of) : of_(std::move(of)) {}

  std::string name() const override { return of_->name(); }
  awaitable<error_code> open(std::string place) override { return of_->open(std::move(place)); }
  awaitable<external_batch> receive(std::size_t most) override { return of_->receive(most); }
  /// The last place counts.
  awaitable<error_code> report(std::vector<std::string> settled) override {
    return of_->consumed(std::move(settled.back()));
  }
  std::vector<std::string> take_forgotten() override { return {}; }
  awaitable<void> close() override { return of_->close(); }

 private:
  std::shared_ptr<external_log> of_;
};

external_log_source::external_log_source(external_frame_ptr frame, std::shared_ptr<external_log> from,
                                         std::uint32_t shard, std::string group)
    : external_message_source(std::move(frame), shard, std::move(group), std::make_unique<log_port>(std::move(from))) {}

std::string external_log_source::first_record() const { return serialize(place_position()); }

bool external_log_source::load(std::string_view record) {
  auto stored = parse_place_position(record);
  if (!stored) return false;
  cursor_ = stored->last;
  progress_ = place_progress(std::move(*stored));
  return true;
}

bool external_log_source::admit(const std::string& id) {
  cursor_ = id;
  return progress_.open(id);
}

std::string external_log_source::record_after(const std::vector<settlement>& batch) const {
  auto next = progress_;
  apply(next, batch);
  return serialize(next.position());
}

void external_log_source::settle(const std::vector<settlement>& batch) {
  const auto before = progress_.last();
  apply(progress_, batch);
  if (progress_.last() != before) connection().report({progress_.last()});
}

void external_log_source::apply(place_progress& to, const std::vector<settlement>& batch) {
  for (const auto& each : batch) {
    if (each.how == settlement::kind::count_attempt) to.fail(each.what->name, each.first_failed);
    if (each.how != settlement::kind::count_attempt) to.settle(each.what->name);
  }
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

void require_external(bool is_good, const std::string& field, const std::string& why) {
  if (!is_good) throw std::invalid_argument("external_options::" + field + ": " + why);
}

void check_external(const external_options& options) {
  const bool is_name = !options.source.empty() && options.source.size() <= 256 && !has_control(options.source);
  require_external(is_name, "source", "it must have 1 to 256 bytes without control characters");
  const bool is_count = options.shards >= 1 && options.shards <= most_shards;
  require_external(is_count, "shards", "it must be 1 to 10 000");
  const bool is_bound = options.in_hand.value_or(1) >= 1 && options.in_hand.value_or(1) <= place_progress::most_open;
  require_external(is_bound, "in_hand", "it must be 1 to 2 000");
  const bool is_memory = options.remembered >= options.in_hand.value_or(1) && options.remembered <= 10'000;
  require_external(is_memory, "remembered", "it must be in_hand to 10 000");
  const auto& retry = options.retry;
  const bool is_first = retry.first_pause >= 1ms && retry.first_pause <= 1h;
  require_external(is_first, "retry.first_pause", "it must be 1 ms to 1 h");
  const bool is_pause = retry.max_pause >= retry.first_pause && retry.max_pause <= 1h;
  require_external(is_pause, "retry.max_pause", "it must be first_pause to 1 h");
}

source_base::core_ptr make_source(const session& over, std::string path, external_options options) {
  require_path("external_source path", path);
  check_external(options);
  const auto shards = options.shards;
  source_frame source{require_session(over), {std::move(path)}, {}, shards};
  return std::make_shared<source_core>(
      std::make_shared<external_frame>(external_frame{std::move(source), std::move(options)}));
}

/// The frame of one feed, with the record of its kind.
external_frame_ptr frame_of_feed(const external_source& of, const char* kind, bool is_there, std::uint32_t shard) {
  require_shard(of, "external_source", shard);
  if (!is_there) throw std::invalid_argument("external_source: a null pointer is no source");
  auto frame = std::make_shared<external_frame>(*frame_of<external_frame>(of));
  frame->record = json_object::of_kind(kind);
  frame->record.set("count", std::int64_t{frame->shards}).set("source", frame->options.source);
  return frame;
}

}  // namespace

external_source::external_source(session over, std::string path, external_options options)
    : source_base(over, make_source(over, std::move(path), std::move(options))) {}

const external_options& external_source::options() const noexcept { return options_of<external_frame>(*this); }

message_feed external_source::feed(std::shared_ptr<external_log> from, std::uint32_t shard, std::string group) const {
  const auto frame = frame_of_feed(*this, "external_log", from != nullptr, shard);
  require_name("name of a group", group);
  return message_feed(get_session(), std::make_shared<external_log_source>(frame, std::move(from), shard, group));
}

message_feed external_source::feed(std::shared_ptr<external_queue> from, std::uint32_t shard) const {
  const auto frame = frame_of_feed(*this, "external_queue", from != nullptr, shard);
  return message_feed(get_session(), std::make_shared<external_queue_source>(frame, std::move(from), shard));
}

// What a user's log or queue need not have.

boost::asio::awaitable<error_code> external_log::consumed(std::string) { co_return error_code(); }

boost::asio::awaitable<void> external_log::close() { co_return; }

std::vector<std::string> external_queue::take_forgotten() { return {}; }

boost::asio::awaitable<void> external_queue::close() { co_return; }

}  // namespace zkrecipes
