#include <chrono>
#include <stdexcept>
#include <utility>

#include <zkrecipes/consumer/external_source.hpp>

#include "external/external_core.hpp"
#include "external/external_log_source.hpp"
#include "external/external_queue_source.hpp"
#include "session/make.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"

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

void check_feed(const external_source::core_ptr& core, bool is_there, std::uint32_t shard) {
  if (!core) throw std::invalid_argument("external_source: an object that was made by default has no messages");
  if (!is_there) throw std::invalid_argument("external_source: a null pointer is no source");
  const bool is_shard = shard < core->frame()->options.shards;
  if (!is_shard) throw std::invalid_argument("external_source: there is no shard " + shard_name(shard));
}

}  // namespace

external_source::external_source(session over, std::string path, external_options options) : session_(std::move(over)) {
  require_path("external_source path", path);
  check_external(options);
  const auto& core = require_session(session_);
  core_ = std::make_shared<external_core>(
      std::make_shared<external_frame>(external_frame{core, topic_layout{std::move(path)}, std::move(options)}));
}

const std::string& external_source::path() const noexcept { return core_ ? core_->frame()->where.root : no_path(); }

std::uint32_t external_source::shards() const noexcept { return core_ ? core_->frame()->options.shards : 1; }

message_feed external_source::feed(std::shared_ptr<external_log> from, std::uint32_t shard, std::string group) const {
  check_feed(core_, from != nullptr, shard);
  require_name("name of a group", group);
  auto source = std::make_shared<external_log_source>(core_->frame(), std::move(from), shard, std::move(group));
  return message_feed(session_, std::move(source));
}

message_feed external_source::feed(std::shared_ptr<external_queue> from, std::uint32_t shard) const {
  check_feed(core_, from != nullptr, shard);
  auto source = std::make_shared<external_queue_source>(core_->frame(), std::move(from), shard);
  return message_feed(session_, std::move(source));
}

void external_source::start_dead_letters(handler<std::vector<dead_letter>> h, core_ptr core, std::string group) {
  launch(std::move(h), std::move(core), &external_core::dead_letters, std::move(group));
}

void external_source::start_discard(handler<> h, core_ptr core, std::string group, dead_letter which) {
  launch(std::move(h), std::move(core), &external_core::discard, std::move(group), std::move(which));
}

}  // namespace zkrecipes
