#include "topic/topic_sender.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::size_t most_bytes_under_way = 4 * 1024 * 1024;  // they delay what else the session sends

topic_sender::result failure(std::size_t count, const error_code& why) {
  topic_sender::result all;
  all.failed = count;
  all.error = why;
  return all;
}

}  // namespace

topic_sender::topic_sender(topic_frame_ptr topic, const std::string& name)
    : topic_(std::move(topic)),
      changed_(topic_->session->get_scheduler()),
      record_(topic_->session, join(topic_->where.producers(), name), [this] { return make_topic(); }) {}

awaitable<error_code> topic_sender::make_topic() {
  auto error = co_await agree_on_topic(topic_);
  if (!error) error = co_await topic_->session->ensure_path(topic_->where.producers());
  co_return error;
}

awaitable<outcome<std::uint64_t>> topic_sender::last() {
  auto seen = record_;  // transactions under way go by the version that we knew when they were sent
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
  return is_idle() || (!is_alone_ && !is_full);
}

awaitable<error_code> topic_sender::send(topic_transaction what) {
  if (!record_.is_known()) {
    auto error = co_await record_.read();
    if (error) co_return error;
    is_alone_ = true;
  }
  auto next = std::make_shared<flight>(flight{std::move(what)});
  next->after = (is_idle() ? record_.last() : under_way_.back()->after) + next->what.count();
  next->writes = is_alone_ ? most_under_way : 1;
  transaction all;
  const auto behind = static_cast<std::int32_t>(under_way_.size());
  for (std::int32_t i = 0; i < next->writes; ++i) record_.add_to(all, next->after, behind + i);
  next->what.add_to(all, topic_->where);
  auto multi = backend::make_multi(std::move(all));
  under_way_.push_back(next);
  launch_detached(topic_->session->strand(),
                  owning(shared_from_this(), &topic_sender::carry, std::move(next), std::move(multi)));
  co_return error_code();
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
  record_.note_written(first->after, first->answer.results[first->writes - 1].stat.version);
  note_names(*first, room);
  co_return done;
}

void topic_sender::note_names(const flight& which, topic_room& room) {
  const auto& nodes = which.what.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    room.note_batch(nodes[i].shard, name_of(which.answer.results[which.writes + i].path));
  }
}

/// None behind one that failed was done. One whose reply was lost, and those behind it, may have been: the record tells
/// how many.
awaitable<topic_sender::result> topic_sender::settle_failure() {
  const auto is_done = [](const flight_ptr& each) { return each->is_done; };
  while (!std::ranges::all_of(under_way_, is_done)) co_await changed_.wait();
  const auto all = std::exchange(under_way_, {});
  const auto& first = *all.front();
  const auto& why = first.answer.error;
  const auto before = first.after - first.what.count();
  const result nothing;
  const auto planned = all.back()->after;
  for (const auto& each : all) {
    may_be_there_ = may_be_there_ || (may_have_happened(each->answer.error) && each->answer.sent);
  }
  is_alone_ = true;
  // Somebody else who has written the record by a single version lets those fit that are behind a hole.
  const auto is_put = [](const flight_ptr& each) { return !each->answer.error; };
  const bool is_contradicted = !may_have_happened(why) && std::ranges::any_of(all, is_put);
  const bool is_missing = why == errc::no_node;  // a shard was never used, or an operator removed something
  const bool is_unclear = may_have_happened(why) || why == errc::bad_version || is_missing || is_contradicted;
  if (!is_unclear) {
    record_.doubt();
    co_return failure(first.what.count(), why);
  }
  error_code error;
  const auto is_refused = [&error] { return error && !is_unanswered(error) && !forbids_retry(error); };
  if (is_missing) error = co_await make_folders(first.what);
  if (is_refused() && !may_be_there_) {  // those behind it may go to other shards
    record_.doubt();
    co_return failure(first.what.count(), error);
  }
  if (!error || may_have_happened(error)) error = co_await record_.read();
  if (error) {
    record_.doubt();
    const bool hides_outcome = is_refused() && may_be_there_;
    co_return failure(planned - before, hides_outcome ? make_error_code(errc::outcome_unknown) : error);
  }
  const bool is_anew = record_.last() < before && (is_missing || !may_be_there_);  // somebody has removed the record
  if (is_anew) co_return nothing;
  co_return judge(before, planned, is_contradicted);
}

/// The record was read anew behind the messages with numbers from `before` to `planned`, and nothing is under way.
topic_sender::result topic_sender::judge(std::uint64_t before, std::uint64_t planned, bool is_contradicted) {
  const auto last = record_.last();
  const bool is_possible = may_be_there_ && !is_contradicted;
  const bool is_ours = is_possible && record_.is_ours() && last > before && last <= planned;
  if (is_ours) {
    may_be_there_ = false;
    return {static_cast<std::size_t>(last - before), before};
  }
  if (last == before) return {};
  record_.doubt();
  const bool is_unknown = may_be_there_ || is_contradicted;
  return failure(planned - before, is_unknown ? errc::outcome_unknown : errc::superseded);
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
