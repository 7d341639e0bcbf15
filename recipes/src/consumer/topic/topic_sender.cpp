#include "topic/topic_sender.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "line/line_spec.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using backend::opcode;

namespace {

constexpr std::int32_t most_batches = 40'000;  // their names take 880 KB of a reply
constexpr std::size_t batches_between_looks = 256;
constexpr auto look_when_full = 1s;

}  // namespace

error_code topic_room::refusal(std::uint32_t shard) const {
  const auto found = rooms_.find(shard);
  if (found == rooms_.end()) return {};
  if (found->second.is_used_up) return errc::sequence_exhausted;
  return found->second.is_full ? make_error_code(errc::full) : error_code();
}

void topic_room::record_batch(std::uint32_t shard, std::string_view name) {
  auto& which = rooms_[shard];
  ++which.put;
  const auto batch = parse_batch_name(name);
  which.is_used_up = !batch || is_exhausted(batch->number);
}

bool topic_room::is_due(const room& which) const {
  if (which.is_full) return topic_->session->now() >= which.next_look;
  return which.is_new || which.put >= batches_between_looks;
}

awaitable<void> topic_room::look() {
  std::vector<std::uint32_t> due;
  std::vector<backend::request> looks;
  for (const auto& [shard, which] : rooms_) {
    if (!is_due(which)) continue;
    due.push_back(shard);
    looks.push_back(make_request(opcode::exists, topic_->where.shard(shard)));
  }
  if (due.empty()) co_return;
  const auto& session = topic_->session;
  auto seen = co_await session->perform_all(std::move(looks));
  for (std::size_t i = 0; i < due.size(); ++i) {
    const bool is_told = !seen[i].error || seen[i].error == errc::no_node;
    if (!is_told) continue;
    auto& which = rooms_[due[i]];
    which.is_new = false;
    which.put = 0;
    which.is_full = !seen[i].error && seen[i].stat.num_children >= most_batches;
    which.is_used_up = which.is_used_up && !seen[i].error;  // a new folder begins anew
    which.next_look = session->now() + look_when_full;
  }
}

namespace {

constexpr std::size_t most_bytes_under_way = 4 * 1024 * 1024;  // they delay what else the session sends

/// A server has answered, and the session goes on.
bool is_refusal(const error_code& error) { return error && !is_unanswered(error) && !forbids_retry(error); }

}  // namespace

topic_sender::topic_sender(topic_frame_ptr topic, const std::string& name)
    : topic_(std::move(topic)),
      changed_(topic_->session->get_scheduler()),
      record_(topic_->session, join(topic_->where.producers(), name), [this] { return make_topic(); }) {}

awaitable<error_code> topic_sender::make_topic() {
  auto error = co_await agree_on_record(topic_);
  if (!error) error = co_await topic_->session->ensure_path(topic_->where.producers());
  co_return error;
}

awaitable<outcome<std::uint64_t>> topic_sender::last() {
  auto seen = record_;  // transactions under way go by the version that we knew when they were sent
  seen.invalidate();
  auto error = co_await seen.read();
  const bool is_news = !error && is_idle() && !record_.is_known();
  if (is_news) {
    record_ = seen;
    is_alone_ = true;
  }
  co_return outcome<std::uint64_t>(error, seen.last());
}

bool topic_sender::has_room() const noexcept {
  std::size_t bytes = 0;
  for (const auto& each : under_way_) bytes += each->what.bytes();
  const bool is_full = under_way_.size() >= static_cast<std::size_t>(most_under_way) || bytes >= most_bytes_under_way;
  return is_idle() || (!is_alone_ && again_.empty() && !is_full);
}

awaitable<error_code> topic_sender::prepare() {
  if (record_.is_known()) co_return error_code();
  auto error = co_await record_.read();
  if (!error) is_alone_ = true;
  co_return error;
}

void topic_sender::send(topic_transaction what) {
  auto next = std::make_shared<flight>(flight{std::move(what)});
  next->after = (is_idle() ? record_.last() : under_way_.back()->after) + next->what.count();
  launch(std::move(next));
}

void topic_sender::launch(flight_ptr next) {
  next->writes = is_alone_ ? most_under_way : 1;
  next->is_done = false;
  transaction all;
  const auto behind = static_cast<std::int32_t>(under_way_.size());
  for (std::int32_t i = 0; i < next->writes; ++i) record_.add_to(all, next->after, behind + i);
  next->what.add_to(all, topic_->where);
  auto multi = backend::make_multi(std::move(all));
  under_way_.push_back(next);
  launch_detached(topic_->session->strand(),
                  owning(shared_from_this(), &topic_sender::carry, std::move(next), std::move(multi)));
}

/// Sends those to be sent again that may be under way now.
void topic_sender::send_again() {
  while (!again_.empty() && (is_idle() || !is_alone_)) {
    auto next = std::move(again_.front());
    again_.pop_front();
    launch(std::move(next));
  }
}

awaitable<void> topic_sender::carry(flight_ptr which, backend::request multi) {
  which->answer = co_await topic_->session->perform(std::move(multi), retry::once);
  which->is_done = true;
  changed_.notify();
}

awaitable<topic_sender::result> topic_sender::settle(topic_room& room) {
  const auto first = under_way_.front();
  if (first->answer.error) co_return co_await settle_failure();
  under_way_.pop_front();
  is_alone_ = may_be_there_ = false;
  result done;
  done.put = first->what.count();
  done.before = first->after - first->what.count();
  record_.record_written(first->after, first->answer.results[first->writes - 1].stat.version);
  record_names(*first, room);
  send_again();
  co_return done;
}

void topic_sender::record_names(const flight& which, topic_room& room) {
  const auto& nodes = which.what.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    room.record_batch(nodes[i].shard, name_of(which.answer.results[which.writes + i].path));
  }
}

/// None behind one that failed was done. One whose reply was lost, and those behind it, may have been: the record tells
/// how many.
awaitable<topic_sender::result> topic_sender::settle_failure() {
  const auto is_done = [](const flight_ptr& each) { return each->is_done; };
  while (!std::ranges::all_of(under_way_, is_done)) co_await changed_.wait();
  const bool is_repeated = may_be_there_;
  const bool is_any_put = std::ranges::any_of(under_way_, [](const auto& each) { return !each->answer.error; });
  auto all = take_all();
  const auto until = topic_->session->retry_deadline();
  const auto& first = *all.front();
  const auto& why = first.answer.error;
  const auto before = first.after - first.what.count();
  const auto count = static_cast<std::size_t>(all.back()->after - before);
  // Somebody else who has written the record by a single version lets those fit that are behind a hole.
  bool has_hole = !may_have_happened(why) && is_any_put;
  const bool is_missing = why == errc::no_node;  // a shard was never used, or an operator removed something
  const bool is_unclear = may_have_happened(why) || why == errc::bad_version || is_missing || has_hole;
  if (!is_unclear) co_return give_up(is_repeated ? count : first.what.count(), why);
  error_code error;
  if (is_missing) error = co_await make_folders(first.what);
  const bool concerns_first = is_refusal(error) && !may_be_there_ && !has_hole;  // those behind it have other shards
  if (concerns_first) co_return give_up(first.what.count(), error);
  if (!error || may_have_happened(error)) error = co_await record_.read(until);
  if (error) co_return give_up(count, has_hole && is_refusal(error) ? errc::outcome_unknown : error);
  const result nothing;
  const auto last = record_.last();
  const bool is_anew = last < before && (is_missing || !may_be_there_);  // somebody has removed the record
  if (is_anew) co_return nothing;
  has_hole = has_hole || (!may_have_happened(why) && !is_repeated && record_.is_ours() && last > before);
  if (may_be_there_ && !has_hole) co_return repeat(std::move(all), before);
  if (last == before) co_return nothing;
  co_return give_up(count, has_hole ? errc::outcome_unknown : errc::superseded);
}

/// Nothing is under way any more. Notes whether a reply was lost.
std::deque<topic_sender::flight_ptr> topic_sender::take_all() {
  auto all = std::exchange(under_way_, {});
  for (const auto& each : all) {
    may_be_there_ = may_be_there_ || (may_have_happened(each->answer.error) && each->answer.sent);
  }
  all.insert(all.end(), again_.begin(), again_.end());
  again_.clear();
  is_alone_ = true;
  return all;
}

/// The record was read anew behind these, which follow the message with the number `before`. Those that are not done
/// yet may still be done late, so they are sent as they were: what the record tells then counts the same messages,
/// whichever of the two was done.
topic_sender::result topic_sender::repeat(std::deque<flight_ptr> all, std::uint64_t before) {
  const auto last = record_.last();
  const auto planned = all.back()->after;
  const bool is_ours = last == before || (record_.is_ours() && last > before && last <= planned);
  if (!is_ours) return give_up(planned - before, errc::outcome_unknown);
  while (!all.empty() && all.front()->after <= last) all.pop_front();
  may_be_there_ = !all.empty();
  again_ = std::move(all);
  send_again();
  return {static_cast<std::size_t>(last - before), before};
}

/// So many messages are told to have failed. What of them is done late is not taken for a later one.
topic_sender::result topic_sender::give_up(std::size_t count, const error_code& why) {
  result all;
  all.failed = count;
  all.error = may_be_there_ && is_refusal(why) ? make_error_code(errc::outcome_unknown) : why;
  record_.invalidate();
  may_be_there_ = false;
  return all;
}

awaitable<error_code> topic_sender::make_folders(const topic_transaction& what) {
  auto error = co_await make_topic();
  if (error) co_return error;
  std::vector<backend::request> creates;
  for (const auto& each : what.nodes()) {
    creates.push_back(make_request(opcode::create, topic_->where.shard(each.shard)));
  }
  auto made = co_await topic_->session->perform_all(std::move(creates));
  for (const auto& each : made) {
    const bool is_fine = !each.error || each.error == errc::node_exists || each.error == errc::no_node;
    if (!is_fine) co_return each.error;
  }
  co_return error_code();
}

}  // namespace zkrecipes::detail
