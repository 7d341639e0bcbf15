#include "external/external_message_source.hpp"

#include <algorithm>
#include <utility>

#include "session/forwarding.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
