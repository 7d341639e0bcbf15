#include "topic/log_trimmer.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <zkrecipes/transaction.hpp>

#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using backend::opcode;

namespace {

using log_positions = std::vector<log_position>;
using chosen_batches = std::vector<batch_name>;

constexpr std::size_t trimmed_at_once = 100;
constexpr std::uint64_t most_writes_of_stamp = 63;
/// A quarter of what has room. So a group that comes late finds that much.
constexpr std::size_t kept_by_itself = 10'000;
constexpr std::size_t many_batches = 20'000;
constexpr auto pause_after_news = 1s;
constexpr auto longest_pause_of_trimmer = 10s;

}  // namespace

log_trimmer::log_trimmer(topic_frame_ptr topic, std::uint32_t shard, bool is_once)
    : topic_(std::move(topic)), shard_(shard), is_once_(is_once), changed_(topic_->session->get_scheduler()) {}

void log_trimmer::start() {
  if (std::exchange(is_started_, true)) return;
  runner_ = background();
  runner_.run(topic_->session->strand(), owning(shared_from_this(), &log_trimmer::run));
}

/// Long before there is no room any more.
void log_trimmer::log_if_large(std::size_t batches) {
  const auto& log = topic_->session->options().log;
  if (batches <= many_batches || std::exchange(is_told_, true) || !log) return;
  const auto path = topic_->where.shard(shard_);
  const auto words =
      std::to_string(batches) + " batches are kept, of 40 000 that have room: a group is behind, or is gone";
  const auto write = guarded(*topic_->session->get_scheduler(), log);
  write({log_severity::warning, session_event::operation_failed, {}, {}, path, errc::full, words});
}

bool log_trimmer::is_by_itself() const {
  const auto& keep = topic_->options.retention;
  return keep.groups.empty() && !keep.age && !keep.bytes;
}

void log_trimmer::stop() {
  if (std::exchange(is_started_, false)) runner_.stop();
  learned_.clear();
  is_told_ = false;
}

void log_trimmer::on_consumed() {
  if (!std::exchange(has_news_, true)) changed_.notify();
}

awaitable<void> log_trimmer::run() {
  const auto& session = topic_->session;
  const auto& keep = topic_->options.retention;
  for (;;) {
    has_news_ = false;
    auto error = co_await trim();
    if (forbids_retry(error) || (!error && is_once_)) co_return;
    // Looks rarely: a missing right may be granted, and without a retention nothing goes before the 10 000th batch.
    const bool is_rare = error == errc::no_auth || is_by_itself();
    const auto idle = keep.age ? std::min<std::chrono::milliseconds>(*keep.age / 4, longest_pause_of_trimmer)
                               : std::chrono::milliseconds(longest_pause_of_trimmer);
    const auto soon = session->now() + (is_rare ? idle : std::min<std::chrono::milliseconds>(idle, pause_after_news));
    const auto late = session->now() + idle;
    for (auto woken = wake::notified; session->now() < (has_news_ ? soon : late);) {
      woken = co_await changed_.wait(has_news_ ? soon : late);
      if (woken == wake::cancelled) co_return;
    }
  }
}

awaitable<error_code> log_trimmer::trim() {
  if (is_by_itself()) {
    auto seen =
        co_await topic_->session->perform(make_request(opcode::exists, topic_->where.shard(shard_)), retry::always);
    const bool is_small = !seen.error && static_cast<std::size_t>(seen.stat.num_children) <= kept_by_itself;
    if (seen.error || is_small) co_return seen.error == errc::no_node ? error_code() : seen.error;
  }
  auto stamped = co_await stamp();
  const auto& [problem, version] = stamped;
  if (problem) co_return problem == errc::no_node ? error_code() : problem;  // there is no shard yet
  if (std::exchange(version_, version) != version) learned_.clear();         // those were batches of another shard
  auto looked = co_await look();
  auto& [error, seen] = looked;
  const bool is_needed =
      is_by_itself() ? seen.positions.empty() : seen.positions.size() < topic_->options.retention.groups.size();
  if (!error) log_if_large(seen.batches.size());
  if (error || is_needed) co_return error;  // a group that has not begun needs everything
  auto chosen = co_await choose(std::move(seen.batches), seen.positions);
  auto& [failure, which] = chosen;
  if (failure) co_return failure;
  co_return co_await remove(std::move(which));
}

/// Returns the version of the folder of positions; `no_node`: it can not be there yet. A folder made anew has version 0
/// until another trimmer has written it, a random number of times. So the version tells one shard from the next one of
/// the same name.
awaitable<outcome<std::int32_t>> log_trimmer::stamp() {
  const auto& session = topic_->session;
  const auto folder = topic_->where.positions(shard_);
  for (;;) {
    auto found = co_await session->perform(make_request(opcode::get, folder), retry::always);
    if (!found.error && found.stat.version != 0) co_return outcome<std::int32_t>(error_code(), found.stat.version);
    const bool is_missing = found.error == errc::no_node;
    if (found.error && !is_missing) co_return failed<std::int32_t>(found.error);
    transaction all;
    if (is_missing) all.create(folder);
    const auto writes = 1 + session->get_scheduler()->world->random() % most_writes_of_stamp;
    for (std::uint64_t i = 0; i < writes; ++i) all.set(folder, found.data, static_cast<std::int32_t>(i));
    auto written = co_await session->perform(backend::make_multi(std::move(all)), retry::once);
    // Without the right to write it, its version is 0, and tells only that it is there.
    if (written.error == errc::no_auth && !is_missing) co_return outcome<std::int32_t>(error_code(), 0);
    if (written.error == errc::no_auth) co_return failed<std::int32_t>(errc::no_node);  // a commit may make it later
    const bool is_late = written.error == errc::bad_version || written.error == errc::node_exists;
    if (written.error && !is_late) co_return failed<std::int32_t>(written.error);
  }
}

/// Those that are named; else all that have a position.
awaitable<outcome<std::vector<std::string>>> log_trimmer::groups() const {
  if (!is_by_itself()) co_return outcome<std::vector<std::string>>(error_code(), topic_->options.retention.groups);
  auto found =
      co_await topic_->session->perform(make_request(opcode::children, topic_->where.positions(shard_)), retry::always);
  co_return outcome<std::vector<std::string>>(found.error, std::move(found.children));
}

/// The positions of those named groups that have one, and the batches. Older ones than the present keep more, so any
/// server's are good enough.
awaitable<outcome<log_trimmer::log_look>> log_trimmer::look() {
  auto named = co_await groups();
  const auto& [problem, all] = named;
  if (problem) co_return failed<log_look>(problem);
  std::vector<backend::request> looks{make_request(opcode::children, topic_->where.shard(shard_))};
  for (const auto& each : all) {
    looks.push_back(make_request(opcode::get, topic_->where.position(shard_, each)));
  }
  log_look seen;
  auto replies = co_await topic_->session->perform_all(std::move(looks));
  auto error = replies.front().error;
  seen.batches = batches_of(replies.front().children);
  replies.erase(replies.begin());
  for (const auto& each : replies) {
    if (each.error && each.error != errc::no_node) error = each.error;
    auto position = each.error ? std::nullopt : parse_position(each.data);
    if (is_by_itself() && !position) error = errc::foreign_data;  // whose it is needs everything
    if (position) seen.positions.push_back(std::move(*position));
  }
  co_return outcome<log_look>(error, std::move(seen));
}

awaitable<outcome<chosen_batches>> log_trimmer::choose(chosen_batches all, const log_positions& positions) {
  const auto& keep = topic_->options.retention;
  const auto is_needed = [&positions](const batch_name& each) {
    const auto needs = [&each](const log_position& at) {
      return !at.is_behind(each.number) || at.kept.contains(each.number);
    };
    return std::ranges::any_of(positions, needs);
  };
  chosen_batches chosen;
  const bool has_bounds = keep.age || keep.bytes;
  error_code error;
  if (has_bounds) error = co_await learn(all);
  const auto first = all.empty() ? std::numeric_limits<std::int32_t>::max() : all.front().number;
  learned_.erase(learned_.begin(), learned_.lower_bound(first));  // others have removed those
  const auto bytes_of_batch = [this](const batch_name& each) -> std::uint64_t {
    const auto known = learned_.find(each.number);
    return known == learned_.end() ? 0 : known->second.bytes;
  };
  const bool is_default = is_by_itself();
  auto left = all.size();
  std::uint64_t bytes = 0;
  for (const auto& each : all) bytes += bytes_of_batch(each);
  for (auto& each : all) {
    if (error || (is_default && left <= kept_by_itself)) break;
    const bool is_beyond = keep.bytes && bytes > *keep.bytes;
    const bool is_chosen = !is_needed(each) && (!has_bounds || is_beyond || is_too_old(each));
    if (!is_chosen) continue;
    --left;
    bytes -= bytes_of_batch(each);
    learned_.erase(each.number);
    chosen.push_back(std::move(each));
  }
  co_return outcome<chosen_batches>(error, std::move(chosen));
}

bool log_trimmer::is_too_old(const batch_name& which) const {
  const auto& keep = topic_->options.retention;
  const auto found = learned_.find(which.number);
  if (!keep.age || found == learned_.end()) return false;
  const auto now = topic_->session->get_scheduler()->world->wall_clock().time_since_epoch();
  return now - std::chrono::milliseconds(found->second.since) > *keep.age;
}

/// Each batch is looked at once.
awaitable<error_code> log_trimmer::learn(const chosen_batches& which) {
  std::vector<std::int32_t> unknown;
  std::vector<backend::request> looks;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!learned_.contains(which[i].number)) {
      unknown.push_back(which[i].number);
      looks.push_back(make_request(opcode::exists, batch_path(topic_->where, shard_, which[i].name)));
    }
    const bool is_full = looks.size() == trimmed_at_once || i + 1 == which.size();
    if (!is_full || looks.empty()) continue;
    auto some = std::exchange(looks, {});
    auto replies = co_await topic_->session->perform_all(std::move(some));
    for (std::size_t k = 0; k < replies.size(); ++k) {
      const auto& node = replies[k];
      if (node.error && node.error != errc::no_node) co_return node.error;
      const auto bytes = static_cast<std::uint64_t>(node.stat.data_length);
      if (!node.error) learned_[unknown[k]] = {node.stat.ctime, bytes};
    }
    unknown.clear();
  }
  co_return error_code();
}

/// Each removal holds only in the shard that was looked at. A batch that has gone, or below which somebody has created
/// nodes, is passed by.
awaitable<error_code> log_trimmer::remove(chosen_batches which) {
  const auto folder = topic_->where.positions(shard_);
  for (std::size_t from = 0; from < which.size(); from += trimmed_at_once) {
    std::vector<backend::request> removals;
    for (auto i = from; i < std::min(which.size(), from + trimmed_at_once); ++i) {
      transaction one;
      one.check(folder, version_).remove(batch_path(topic_->where, shard_, which[i].name));
      removals.push_back(backend::make_multi(std::move(one)));
    }
    auto replies = co_await topic_->session->perform_all(std::move(removals));
    for (const auto& each : replies) {
      if (each.error && failed_at(each) == 0) co_return error_code();  // it is another shard now: look again
      const bool is_fine = !each.error || each.error == errc::no_node || each.error == errc::not_empty;
      if (!is_fine) co_return each.error;
    }
  }
  co_return error_code();
}

}  // namespace zkrecipes::detail
