#include "shards/shard_router.hpp"

#include <utility>

#include <zkrecipes/consumer/shard_router.hpp>

#include "format/json_object.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "shards/group_layout.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

std::optional<shard_map> parse_shard_map(const std::string& data) try {
  const auto object = json_object::parse(data);
  if (!object || !object->is("shard_map")) return std::nullopt;
  shard_map map;
  map.plan = object->integer("plan", 0).value();
  const auto count = static_cast<std::size_t>(object->integer("count", 1, most_shards).value());
  const auto members = object->object("members").value();
  const auto names = members.names();
  map.owners.assign(count, names.size());
  for (const auto& name : names) {
    const auto member = members.object(name).value();
    const auto own = shard_set::parse(member.text("own").value()).value();
    for (const auto each : own) {
      if (each < count) map.owners[each] = map.members.size();
    }
    map.members.push_back({member.text("id").value(), name, member.text("data").value_or(std::string())});
  }
  return map;
} catch (const std::bad_optional_access&) {  // a field is missing, has another type, or is out of bounds
  return std::nullopt;
}

using backend::opcode;

map_reader::map_reader(core_ptr session, std::string group)
    : scheduler_(session->get_scheduler()),
      session_(std::move(session)),
      group_(std::move(group)),
      path_(group_layout{group_}.map()),
      hinted_(scheduler_),
      told_(scheduler_) {}

void map_reader::start() {
  asio::post(scheduler_->strand, [self = shared_from_this()] {
    self->work_.run(self->scheduler_->strand, owning(self, &map_reader::run));
  });
}

void map_reader::stop_later() {
  asio::post(scheduler_->strand, [self = shared_from_this()] { self->work_.stop(); });
}

std::shared_ptr<const shard_map> map_reader::map() const {
  std::lock_guard lock(mutex_);
  return map_;
}

/// A map that was known stays known, whatever becomes of the node.
awaitable<void> map_reader::run() {
  back_off pause(std::chrono::milliseconds(100), std::chrono::milliseconds(10'000));
  for (;;) {
    auto error = co_await read();
    if (is_cancelled(error)) break;
    error_ = error == errc::no_node || may_have_happened(error) ? error_code() : error;
    told_.notify();
    if (is_fatal(error)) break;
    const bool is_watched = hint_ && !hint_->fired();
    auto why = wake::notified;
    if (is_watched) {
      pause.reset();
      while (!hint_->fired() && why != wake::cancelled) why = co_await hinted_.wait();
    } else if (error) {
      why = co_await hinted_.wait(pause.next(*scheduler_));
    }
    if (why == wake::cancelled) break;
  }
  hint_.reset();  // removes the watch, too
  session_.reset();
  if (!is_fatal(error_)) error_ = errc::closed;
  told_.notify();
}

awaitable<error_code> map_reader::read() {
  auto error = co_await session_->wait_connected(nullptr, never);
  if (error) co_return error;
  auto hint = session_->arm(watch_kind::data, path_, hinted_);
  auto look = session_->send(make_request(opcode::get, path_, true));
  auto node = co_await session_->answer(look);
  if (node.error == errc::no_node) {  // only `exists` sets a watch on a missing node
    look = session_->send(make_request(opcode::exists, path_, true));
    auto there = co_await session_->answer(look);
    if (!there.error) co_return errc::connection_loss;  // it was made meanwhile: look again
    node.error = there.error;
  }
  if (!node.error || node.error == errc::no_node) hint_ = std::move(hint);
  if (node.error || node.data.empty()) co_return node.error;  // a map that is about to be written has no data
  auto map = parse_shard_map(node.data);
  if (!map) co_return errc::foreign_data;
  publish(std::move(*map));
  co_return error_code();
}

void map_reader::publish(shard_map map) {
  auto fresh = std::make_shared<const shard_map>(std::move(map));
  std::lock_guard lock(mutex_);
  map_ = std::move(fresh);
}

awaitable<outcome<>> map_reader::wait_started() {
  for (;;) {
    if (map() && !is_fatal(error_)) co_return outcome<>(error_code());
    if (error_) co_return outcome<>(error_);
    auto why = co_await told_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

shard_router::shard_router(session over, std::string path) : session_(std::move(over)) {
  require_path("shard_router path", path);
  if (path == "/") reject("shard_router path", path, "it is the root");
  reader_ = std::make_shared<map_reader>(require_session(session_), std::move(path));
  reader_->start();
}

shard_router::shard_router() noexcept = default;
shard_router::shard_router(shard_router&&) noexcept = default;

shard_router& shard_router::operator=(shard_router&& other) noexcept {
  shard_router taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(reader_, taken.reader_);  // the reader that we had is stopped here
  return *this;
}

shard_router::~shard_router() {
  if (reader_) reader_->stop_later();
}

std::optional<shard_route> shard_router::owner(std::uint32_t number) const {
  const auto map = reader_ ? reader_->map() : nullptr;
  if (!map || number >= map->owners.size()) return std::nullopt;
  const auto owner = map->owners[number];
  if (owner >= map->members.size()) return std::nullopt;
  return map->members[owner];
}

std::optional<shard_route> shard_router::route(std::string_view key) const {
  const auto all = count();
  return all ? owner(shard_of(key, all)) : std::nullopt;
}

std::uint32_t shard_router::count() const {
  const auto map = reader_ ? reader_->map() : nullptr;
  return map ? static_cast<std::uint32_t>(map->owners.size()) : 0;
}

std::int64_t shard_router::plan() const {
  const auto map = reader_ ? reader_->map() : nullptr;
  return map ? map->plan : 0;
}

const std::string& shard_router::path() const noexcept { return reader_ ? reader_->group() : no_path(); }

void shard_router::start_started(handler_for<void(error_code)> h, reader_ptr reader) {
  launch(std::move(h), std::move(reader), &map_reader::wait_started);
}

}  // namespace zkrecipes
