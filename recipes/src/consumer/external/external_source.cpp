#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "delivery/read_ahead.hpp"
#include "external/external_connection.hpp"
#include "external/place_progress.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "source/failed_attempts.hpp"
#include "source/log_source.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

/// The messages of one shard of a source of the user's: what logs and queues have in common.
/// One call of the user's `receive` is under way while messages are wanted. It goes on when a wait of ours is
/// cancelled, so nothing is lost; what it brings is kept until it is received. On the strand.
class external_message_source : public log_source {
 public:
  std::string name() const final;
  std::string failure() const final { return connection_->failure(); }

  awaitable<error_code> open() final;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) final;
  /// From memory. One that has not come yet in this term may still come.
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) final;
  void set_order(message_order order) final;
  transaction moving_on(const std::vector<settlement>& batch) final;
  awaitable<void> settled(std::vector<settlement> batch) final;
  awaitable<void> close() final;

 protected:
  external_message_source(external_frame_ptr frame, std::uint32_t shard, std::string group,
                          std::unique_ptr<external_port> port);

  const external_options& options() const noexcept { return frame_->options; }
  external_connection& connection() noexcept { return *connection_; }
  const held_messages& held() const noexcept { return held_; }

 private:
  /// The record of a group that has settled nothing.
  virtual std::string first_record() const = 0;
  /// Goes on from what is stored. False: it is no record of this kind.
  virtual bool load(std::string_view record) = 0;
  /// The record when these are settled, too.
  virtual std::string record_after(const std::vector<settlement>& batch) const = 0;
  /// These messages are settled, and the record is stored.
  virtual void settle(const std::vector<settlement>& batch) = 0;
  /// A message has come that is not held. False: it was settled before.
  virtual bool admit(const std::string& id) = 0;
  virtual failed_attempts failed(const std::string& id) const = 0;
  /// Nothing is to be read before a message is settled that is in hand, because the record would become too large.
  virtual bool is_far_ahead() const { return false; }
  /// What the source has said besides messages, after all messages that came before it have been admitted.
  virtual void take_news() {}
  /// Where `external_log::open` goes on.
  virtual std::string place() const { return {}; }

  awaitable<error_code> read_record();
  awaitable<error_code> await_more(std::size_t most);
  void take_messages();
  message make_message(const external_message& what) const;

  external_frame_ptr frame_;
  std::shared_ptr<external_connection> connection_;
  condition changed_;
  held_messages held_;
  read_ahead ahead_;               // the bytes of these
  std::deque<std::string> ready_;  // the ids of those that were not handed out yet
};

namespace {

using held_list = std::vector<message>;
using held_finds = std::vector<std::optional<message>>;

constexpr std::size_t in_hand_in_strict_order = 500;
constexpr std::size_t in_hand_by_key = 1'000;

std::size_t most_in_hand(const external_options& options, message_order order) {
  const auto by_itself = order == message_order::strict ? in_hand_in_strict_order : in_hand_by_key;
  return options.in_hand.value_or(std::min(by_itself, options.remembered));
}

std::size_t size_of(const external_message& what) { return what.id.size() + what.key.size() + what.data.size(); }

bool is_message_id(const std::string& id) { return !id.empty() && id.size() <= 256 && !has_control(id); }

}  // namespace

external_message_source::external_message_source(external_frame_ptr frame, std::uint32_t shard, std::string group,
                                                 std::unique_ptr<external_port> port)
    : log_source(frame, shard, std::move(group)),
      frame_(std::move(frame)),
      connection_(std::make_shared<external_connection>(frame_, std::move(port))),
      changed_(frame_->session->get_scheduler()),
      held_(most_in_hand(frame_->options, message_order::by_key)),
      ahead_(frame_->reading, held_.most()) {}

void external_message_source::set_order(message_order order) { held_.resize(most_in_hand(options(), order)); }

std::string external_message_source::name() const {
  return connection_->name() + ", shard " + shard_name(shard()) + ", group " + group();
}

awaitable<error_code> external_message_source::open() {
  connection_->reset();
  position().reset();
  ahead_.stop();
  held_.clear();
  ready_.clear();
  co_return error_code();
}

awaitable<void> external_message_source::close() {
  ahead_.stop();
  held_.clear();
  ready_.clear();
  co_await connection_->close();
}

awaitable<outcome<held_list>> external_message_source::receive(std::size_t most) {
  const forwarding position_changes(position().changed(), changed_);
  const forwarding connection_changes(connection_->changed(), changed_);
  for (;;) {
    auto error = co_await read_record();
    if (!error && most == 0 && position().wants_look()) error = co_await position().look();
    if (error || is_outdated() || most == 0) co_return zkrecipes::detail::failed<held_list>(error);
    take_messages();
    take_news();
    if (connection_->has_failed()) co_return zkrecipes::detail::failed<held_list>(errc::career_failed);
    if (!ready_.empty()) break;
    error = co_await await_more(most);
    if (error) co_return zkrecipes::detail::failed<held_list>(error);
  }
  held_list some;
  while (some.size() < most && !ready_.empty()) {
    some.push_back(make_message(*held_.find(ready_.front())));
    ready_.pop_front();
  }
  co_return outcome<held_list>(error_code(), std::move(some));
}

/// The first time.
awaitable<error_code> external_message_source::read_record() {
  if (position().is_known()) co_return error_code();
  auto begun = co_await position().begin(first_record());
  auto& [error, seen] = begun;
  if (error) co_return error;
  if (!load(seen[0].data)) co_return errc::foreign_data;
  position().know(seen[0]);
  co_return error_code();
}

/// Waits for messages, or until something else is to be done.
awaitable<error_code> external_message_source::await_more(std::size_t most) {
  if (position().has_fired()) co_return co_await position().look();  // our own commits bring us here, too
  if (!connection_->is_open()) {
    auto error = co_await connection_->ready(place());
    if (!error) held_.forget_deliveries();
    co_return error;
  }
  ahead_.start();
  const auto bytes = held_.empty() ? std::max<std::size_t>(ahead_.room(), 1) : ahead_.room();
  const auto wanted = is_far_ahead() ? 0 : std::min({most, held_.room(), bytes});
  if (wanted > 0) connection_->ask(wanted);
  const auto why = co_await changed_.wait();
  co_return why == wake::cancelled ? make_error_code(asio::error::operation_aborted) : error_code();
}

void external_message_source::take_messages() {
  for (auto& each : connection_->take()) {
    if (!is_message_id(each.id)) {
      connection_->fail("receive: an id must have 1 to 256 bytes without control characters");
      return;
    }
    if (held_.count_repeat(each.id) || !admit(each.id)) continue;
    ready_.push_back(each.id);
    ahead_.on_answer(1, size_of(each));
    held_.add(std::move(each));
  }
}

message external_message_source::make_message(const external_message& what) const {
  message made;
  made.name = what.id;
  made.data = what.data;
  made.key = what.key;
  const auto attempts = failed(what.id);
  made.attempts = attempts.count + 1;
  made.stat.ctime = made.stat.mtime = what.timestamp;
  if (attempts.count > 0) made.stat.mtime = attempts.since;  // the engine takes it for the first failed attempt
  return made;
}

awaitable<outcome<held_finds>> external_message_source::read_again(std::vector<std::string> names) {
  held_finds found;
  for (auto& each : names) {
    const auto* held = held_.find(each);
    message unread;
    if (!held) unread.name = std::move(each);
    found.push_back(held ? make_message(*held) : std::move(unread));
  }
  co_return outcome<held_finds>(error_code(), std::move(found));
}

/// One write of the record from its known version, whatever the number of messages.
transaction external_message_source::moving_on(const std::vector<settlement>& batch) {
  transaction all;
  if (!batch.empty()) position().write(all, record_after(batch));
  return all;
}

awaitable<void> external_message_source::settled(std::vector<settlement> batch) {
  take_messages();  // in front of the news that one of them can not come again
  take_news();
  settle(batch);
  for (const auto& each : batch) {
    if (each.how == settlement::kind::count_attempt) continue;
    const auto* held = held_.find(each.what->name);
    if (held) ahead_.on_taken(size_of(*held));
    held_.remove(each.what->name);
  }
  position().on_written();
  changed_.notify();
  co_return;
}

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

namespace {

void check_external(const external_options& options) {
  const option_checks check("external_options");
  const bool is_name = !options.source.empty() && options.source.size() <= 256 && !has_control(options.source);
  check.require(is_name, "source", "it must have 1 to 256 bytes without control characters");
  check.require_shards(options.shards);
  const bool is_bound = options.in_hand.value_or(1) >= 1 && options.in_hand.value_or(1) <= place_progress::most_open;
  check.require(is_bound, "in_hand", "it must be 1 to 2 000");
  const bool is_memory = options.remembered >= options.in_hand.value_or(1) && options.remembered <= 10'000;
  check.require(is_memory, "remembered", "it must be in_hand to 10 000");
  check.require_pauses(options.retry);
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
