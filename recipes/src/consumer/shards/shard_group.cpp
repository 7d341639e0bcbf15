#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <boost/crc.hpp>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/shard_group.hpp>
#include <zkrecipes/consumer/shard_group_view.hpp>

#include "career/term_service.hpp"
#include "session/background.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "shards/group_layout.hpp"
#include "shards/group_member.hpp"
#include "shards/group_view_maker.hpp"
#include "shards/shard_name.hpp"
#include "shards/shard_quarantine.hpp"

namespace zkrecipes {

std::string shard::name() const { return detail::shard_name(number); }

std::uint32_t shard_of(std::string_view key, std::uint32_t shards) {
  if (shards == 0) throw std::invalid_argument("shard_of: the number of shards is 0");
  boost::crc_32_type sum;
  sum.process_bytes(key.data(), key.size());
  return sum.checksum() % shards;
}

}  // namespace zkrecipes

namespace zkrecipes::detail {

using backend::opcode;
using backend::reply;

namespace {

/// A thousand at a time, because an answer that waits to be read takes memory.
awaitable<std::vector<reply>> read_all(core_ptr session, std::vector<backend::request> reads) {
  constexpr std::size_t most = 1000;
  std::vector<reply> all;
  for (std::size_t first = 0; first < reads.size(); first += most) {
    const auto last = std::min(reads.size(), first + most);
    std::vector<backend::request> some(reads.begin() + std::ptrdiff_t(first), reads.begin() + std::ptrdiff_t(last));
    auto answers = co_await session->perform_all(std::move(some));
    for (auto& each : answers) all.push_back(std::move(each));
  }
  co_return all;
}

/// A list that is missing is empty.
error_code failure_of(const reply& list) { return list.error == errc::no_node ? error_code() : list.error; }

/// Reads the state of a shard group in two round trips. Errors: `no_node`, `foreign_data`, `no_auth`, and those of the
/// session.
awaitable<outcome<shard_group_view>> view_group(core_ptr session, group_layout where) {
  std::vector<backend::request> lists{
      make_request(opcode::get, where.root),        make_request(opcode::children, where.members()),
      make_request(opcode::children, where.away()), make_request(opcode::children, where.quarantines()),
      make_request(opcode::exists, where.frozen()), make_request(opcode::children, where.notes())};
  auto listed = co_await session->perform_all(std::move(lists));
  error_code error = listed[0].error;
  for (std::size_t i = 1; i < listed.size() && !error; ++i) error = failure_of(listed[i]);
  if (error) co_return outcome<shard_group_view>(error, shard_group_view());
  const auto size = read_group_data(listed[0].data);
  if (!size.is_group) co_return outcome<shard_group_view>(errc::foreign_data, shard_group_view());
  const bool is_frozen = !listed[4].error;
  const auto& members = listed[1].children;
  const auto& away = listed[2].children;
  const auto& quarantines = listed[3].children;
  const auto& notes = listed[5].children;
  std::vector<backend::request> reads;
  for (std::uint32_t i = 0; i < size.shards; ++i) reads.push_back(make_request(opcode::get, where.record(i)));
  for (const auto& each : members) reads.push_back(make_request(opcode::get, where.member(each)));
  for (const auto& each : away) reads.push_back(make_request(opcode::get, join(where.away(), each)));
  for (const auto& each : quarantines) reads.push_back(make_request(opcode::get, join(where.quarantines(), each)));
  for (const auto& each : notes) reads.push_back(make_request(opcode::get, join(where.notes(), each)));
  auto nodes = co_await read_all(session, std::move(reads));
  for (const auto& each : nodes) {
    if (is_untold(each.error)) co_return outcome<shard_group_view>(each.error, shard_group_view());
  }
  group_view_maker maker(size, is_frozen);
  auto next = nodes.begin();
  for (std::uint32_t i = 0; i < size.shards; ++i, ++next) maker.set_shard(view_of_shard(i, next->data, next->stat));
  for (const auto& each : members) maker.add_member(each, next->data, next->stat), ++next;
  for (std::size_t i = 0; i < away.size(); ++i, ++next) maker.add_away(next->data, next->stat);
  for (const auto& each : quarantines) maker.add_quarantine(each, next->data), ++next;
  for (const auto& each : notes) maker.add_note(each, (next++)->data);
  co_return outcome<shard_group_view>(error_code(), maker.finish());
}

}  // namespace

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_member_data = 1'000;

void require_option(bool is_good, const char* option, const char* what) {
  if (is_good) return;
  throw std::invalid_argument(std::string("shard_group_options::") + option + ": it must be " + what);
}

void check_group(const shard_group_options& options) {
  require_id("shard_group_options::id", options.id);
  require_option(options.shards >= 1 && options.shards <= most_shards, "shards", "1 to 10 000");
  const bool is_number = std::isfinite(options.capacity);
  require_option(is_number && options.capacity >= 0.001 && options.capacity <= 1000, "capacity", "0.001 to 1 000");
  require_option(options.data.size() <= most_member_data, "data", "at most 1 000 bytes");
  const auto grace = options.grace.value_or(0ms);
  require_option(grace >= 0ms && grace <= 24h, "grace", "0 to 24 h");
  require_option(options.collect >= 0ms && options.collect <= 60s, "collect", "0 to 60 s");
  require_option(options.max_moves > 0 && options.max_moves <= 1, "max_moves", "above 0, and at most 1");
  const bool is_limit = options.quarantine_after >= 0 && options.quarantine_after <= 1000;
  require_option(is_limit, "quarantine_after", "0 to 1 000");
  require_option(options.calm >= 0ms && options.calm <= 24h, "calm", "0 to 24 h");
}

awaitable<outcome<>> freeze(group_frame_ptr group, bool frozen) {
  auto look = make_request(backend::opcode::get, group->where.root);
  auto root = co_await group->session->perform(std::move(look), retry::always);
  if (root.error) co_return outcome<>(root.error);
  if (!read_group_data(root.data).is_group) co_return outcome<>(errc::foreign_data);
  auto change = make_request(frozen ? backend::opcode::create : backend::opcode::remove, group->where.frozen());
  auto done = co_await group->session->perform(std::move(change), retry::always);
  const bool is_so_already = done.error == (frozen ? errc::node_exists : errc::no_node);
  co_return outcome<>(is_so_already ? error_code() : done.error);
}

/// The deaths in the record would put it there again with the next one. A record that is written meanwhile is read
/// anew.
awaitable<outcome<>> release(group_frame_ptr group, std::uint32_t number) {
  if (number >= group->options.shards) co_return outcome<>(errc::bad_arguments);
  for (;;) {
    auto look = make_request(backend::opcode::get, group->where.record(number));
    auto seen = co_await group->session->perform(std::move(look), retry::always);
    if (is_untold(seen.error)) co_return outcome<>(seen.error);
    auto all = release_of(group->where, number, seen);
    auto multi = backend::make_multi(all);
    auto done = co_await group->session->perform(std::move(multi), retry::once);
    if (done.error != errc::bad_version) co_return outcome<>(done.error);
  }
}

}  // namespace

shard_group::shard_group(session over, std::string path, shard_group_options options) : session_(std::move(over)) {
  require_path("shard group path", path);
  if (path == "/") reject("shard group path", path, "it is the root");
  check_group(options);
  auto group = std::make_shared<group_frame>(require_session(session_));
  group->where.root = std::move(path);
  group->options = std::move(options);
  member_ = std::make_shared<group_member>(std::move(group));
}

shard_group::shard_group() noexcept = default;
shard_group::shard_group(shard_group&&) noexcept = default;

shard_group& shard_group::operator=(shard_group&& other) noexcept {
  shard_group taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(member_, taken.member_);  // the member that we had is stopped here
  return *this;
}

shard_group::~shard_group() {
  if (member_) member_->forbid_runs();
  stop();
}

void shard_group::stop() {
  if (!member_) return;
  asio::post(member_->session()->strand(), [self = member_] { self->stop(false); });
}

void shard_group::drain() {
  if (!member_) return;
  asio::post(member_->session()->strand(), [self = member_] { self->drain(); });
}

shard_group_status shard_group::status() const { return member_ ? member_->status() : shard_group_status(); }

const std::string& shard_group::path() const noexcept { return member_ ? member_->group()->where.root : no_path(); }

const shard_group_options& shard_group::options() const noexcept {
  static const shard_group_options defaults;
  return member_ ? member_->group()->options : defaults;
}

void shard_group::start_run(handler_for<void(error_code)> h, member_ptr member, career_factory make) {
  const auto& on = *member->get_scheduler();
  const bool has_factory = static_cast<bool>(make);
  if (!has_factory) return launch(on, std::move(h), refuse<>(errc::bad_arguments));
  if (auto refused = member->begin_run(std::move(make))) return launch(on, std::move(h), refuse<>(refused));
  launch_stoppable(std::move(h), std::move(member));
}

void shard_group::start_view(handler_for<void(error_code, shard_group_view)> h, member_ptr member) {
  launch(*member->get_scheduler(), std::move(h), view_group(member->session(), member->group()->where));
}

void shard_group::start_freeze(handler_for<void(error_code)> h, member_ptr member, bool frozen) {
  launch(*member->get_scheduler(), std::move(h), freeze(member->group(), frozen));
}

void shard_group::start_release(handler_for<void(error_code)> h, member_ptr member, std::uint32_t number) {
  launch(*member->get_scheduler(), std::move(h), release(member->group(), number));
}

}  // namespace zkrecipes
