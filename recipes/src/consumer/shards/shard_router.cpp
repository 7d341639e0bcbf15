#include <utility>

#include <zkrecipes/consumer/shard_router.hpp>

#include "session/core.hpp"
#include "shards/map_reader.hpp"

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
