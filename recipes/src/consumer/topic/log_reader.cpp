#include "topic/log_reader.hpp"

#include <algorithm>
#include <utility>

#include "session/outcomes.hpp"
#include "session/together.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

void log_progress::open(std::int32_t batch, std::uint32_t count) {
  part added{count, {}};
  const auto some = stored_.messages.find(batch);
  if (some != stored_.messages.end()) added.settled = std::move(some->second);
  if (some != stored_.messages.end()) stored_.messages.erase(some);
  const bool is_next = stored_.next && stored_.next->batch == batch;
  for (std::uint32_t i = 0; is_next && i < std::min(stored_.next->index, count); ++i) added.settled.add(i);
  const bool is_done = added.settled.first_missing(0) >= count;
  opened_ = batch;
  if (!is_done) {
    open_.emplace(batch, std::move(added));
  } else {
    finished_.push_back(batch);
    stored_.batches.add(batch);
  }
  move_on();
}

void log_progress::pass_over(std::int32_t batch) {
  open_.erase(batch);
  stored_.messages.erase(batch);
  std::erase_if(stored_.failed, [batch](const auto& each) { return each.first.batch == batch; });
  if (!opened_ || *opened_ < batch) opened_ = batch;
  stored_.batches.add(batch);
  move_on();
}

bool log_progress::is_settled(const message_place& which) const {
  const auto found = open_.find(which.batch);
  return found != open_.end() ? found->second.settled.contains(which.index) : stored_.is_settled(which);
}

void log_progress::settle(const message_place& which) {
  stored_.failed.erase(which);
  const auto found = open_.find(which.batch);
  if (found == open_.end() || !found->second.settled.add(which.index)) return;
  if (found->second.settled.first_missing(0) < found->second.count) return;
  open_.erase(found);
  finished_.push_back(which.batch);
  stored_.batches.add(which.batch);
  move_on();
}

void log_progress::fail(const message_place& which, std::int64_t since) { count_failure(stored_.failed, which, since); }

bool log_progress::is_far_ahead() const {
  auto ranges = stored_.batches.all().size();
  for (const auto& [batch, each] : stored_.messages) ranges += each.all().size();
  for (const auto& [batch, each] : open_) ranges += each.settled.all().size();
  return ranges >= most_ranges;
}

bool log_progress::has_settled_behind(const message_place& which) const {
  const auto is_behind = [&](std::int32_t batch, const indexes& some) {
    return !some.empty() && which < message_place{batch, some.all().rbegin()->second};
  };
  if (!stored_.batches.empty() && stored_.batches.all().rbegin()->second > which.batch) return true;
  const auto& parts = stored_.messages;
  if (!parts.empty() && is_behind(parts.rbegin()->first, parts.rbegin()->second)) return true;
  return std::any_of(open_.lower_bound(which.batch), open_.end(),
                     [&](const auto& each) { return is_behind(each.first, each.second.settled); });
}

failed_attempts log_progress::failed(const message_place& which) const {
  const auto found = stored_.failed.find(which);
  return found == stored_.failed.end() ? failed_attempts() : found->second;
}

/// Forgets what is settled behind the first open batch, or behind all that were opened if none is open.
void log_progress::move_on() {
  if (!opened_) return;
  const auto next = open_.empty() ? *opened_ + 1 : open_.begin()->first;
  if (!stored_.next || stored_.next->batch < next) stored_.next = message_place{next, 0};
  stored_.batches.erase_below(next);
  stored_.messages.erase(stored_.messages.begin(), stored_.messages.lower_bound(next));
  stored_.failed.erase(stored_.failed.begin(), stored_.failed.lower_bound(message_place{next, 0}));
}

log_position log_progress::position() const {
  auto all = stored_;
  for (const auto& [batch, each] : open_) {
    const bool is_next = all.next && all.next->batch == batch;
    auto some = each.settled;
    if (is_next) all.next->index = some.first_missing(0);
    if (is_next) some.erase_below(all.next->index);
    if (!some.empty()) all.messages[batch] = std::move(some);
  }
  return all;
}

using backend::opcode;

namespace {

using log_messages = std::vector<message>;
using found_messages = std::vector<std::optional<message>>;

constexpr std::size_t most_asked = 8;             // batches that are being read
constexpr std::size_t least_read_ahead = 1'000;   // messages
constexpr std::size_t most_bytes_kept = 900'000;  // of a batch that can not be read, in its dead letter

}  // namespace

log_reader::log_reader(topic_frame_ptr topic, std::uint32_t shard, position_node& position)
    : topic_(std::move(topic)), shard_(shard), position_(position) {}

void log_reader::open() {
  position_.reset();
  progress_ = {};
  known_.clear();
  last_listed_ = last_asked_ = -1;
  asked_.clear();
  asked_messages_ = 0;
  ready_.clear();
  problems_.clear();
  kept_.clear();
  list_watch_.reset();
}

/// A batch that is not in its dead letter as a whole is not removed.
const batch_name* log_reader::removable(std::int32_t number) const {
  return kept_.contains(number) ? nullptr : find(number);
}

const batch_name* log_reader::find(std::int32_t number) const {
  const auto found = known_.find(number);
  return found == known_.end() ? nullptr : &found->second;
}

std::optional<batch_name> log_reader::drop(std::int32_t number) {
  auto found = known_.extract(number);
  if (!problems_.empty()) problems_.erase(message_name({number, 0}));
  if (kept_.erase(number) != 0 || !found) return std::nullopt;
  return std::move(found.mapped());
}

std::string log_reader::problem_of(const std::string& name) const {
  if (problems_.empty()) return {};
  const auto found = problems_.find(name);
  return found == problems_.end() ? std::string() : found->second;
}

awaitable<outcome<log_messages>> log_reader::receive(std::size_t most) {
  for (;;) {
    auto error = co_await get_ready();
    if (!error && most == 0 && position_.wants_look()) error = co_await position_.look();
    if (error || position_.is_outdated() || most == 0) co_return failed<log_messages>(error);
    ask_ahead(most);
    if (may_hand_out()) break;
    if (!ready_.empty()) {
      error = co_await await_progress();
    } else if (!asked_.empty()) {
      error = co_await take_answer();
    } else {
      error = co_await list_again();
    }
    if (error) co_return failed<log_messages>(error);
  }
  log_messages some;
  some.reserve(std::min(most, ready_.size()));
  while (some.size() < most && may_hand_out()) {
    some.push_back(std::move(ready_.front()));
    ready_.pop_front();
  }
  co_return outcome<log_messages>(error_code(), std::move(some));
}

/// With more in hand the position might become too large. A message in front of something settled always may.
bool log_reader::may_hand_out() const {
  if (ready_.empty()) return false;
  if (!progress_.is_far_ahead()) return true;
  const auto next = parse_message_name(ready_.front().name);
  return next && progress_.has_settled_behind(*next);
}

/// Waits until messages are settled, or somebody else has moved the position.
awaitable<error_code> log_reader::await_progress() {
  if (position_.has_fired()) co_return co_await position_.look();
  const auto why = co_await position_.changed().wait();
  co_return why == wake::cancelled ? make_error_code(asio::error::operation_aborted) : error_code();
}

/// Reads the position and the list, the first time.
awaitable<error_code> log_reader::get_ready() {
  if (position_.is_known()) co_return error_code();
  auto begun = co_await position_.begin(serialize(log_position()), listing());
  auto& [error, seen] = begun;
  if (!error) error = seen[1].error;
  if (error) co_return error;
  auto stored = parse_position(seen[0].data);
  if (!stored) co_return errc::foreign_data;
  progress_ = log_progress(std::move(*stored));
  position_.know(seen[0]);
  record_list(seen[1].children);
  co_return error_code();
}

/// The request for the list, with a watch.
position_node::more_requests log_reader::listing() {
  return [this] {
    const auto folder = topic_->where.shard(shard_);
    list_watch_ = topic_->session->arm(watch_kind::children, folder, position_.changed());
    return std::vector<backend::request>{make_request(opcode::children, folder, true)};
  };
}

/// All that was listed is read. Waits until there are more batches, or somebody has moved the position.
awaitable<error_code> log_reader::list_again() {
  for (;;) {
    while (list_watch_ && !list_watch_->fired()) {
      if (position_.has_fired()) {  // our own commits wake us here, too
        auto error = co_await position_.look();
        if (error || position_.is_outdated()) co_return error;
        continue;
      }
      const auto why = co_await position_.changed().wait();
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
    auto looked = co_await position_.look(listing());
    auto& [error, seen] = looked;
    if (error) co_return error;
    if (seen[0].error == errc::no_auth || seen[1].error == errc::no_auth) co_return errc::no_auth;
    if (seen[1].error) position_.mark_outdated();
    if (position_.is_outdated()) co_return error_code();
    record_list(seen[1].children);
    if (last_listed_ > last_asked_) co_return error_code();
  }
}

void log_reader::record_list(const std::vector<std::string>& children) {
  for (auto& each : batches_of(children)) {
    if (each.number <= last_listed_) continue;
    last_listed_ = each.number;
    if (!progress_.is_behind(each.number)) known_.emplace(each.number, std::move(each));
  }
}

void log_reader::ask_ahead(std::size_t most) {
  const auto wanted = std::max(2 * most, least_read_ahead);
  auto next = known_.upper_bound(last_asked_);
  for (; next != known_.end(); ++next) {
    if (asked_.size() == most_asked || ready_.size() + asked_messages_ >= wanted) return;
    const auto& which = next->second;
    auto get = make_request(opcode::get, batch_path(topic_->where, shard_, which.name));
    asked_.push_back({which, topic_->session->send(std::move(get))});
    asked_messages_ += which.count;
    last_asked_ = which.number;
  }
  last_asked_ = std::max(last_asked_, last_listed_);
}

void log_reader::forget_asked() {
  if (asked_.empty()) return;
  last_asked_ = asked_.front().which.number - 1;
  asked_.clear();
  asked_messages_ = 0;
}

awaitable<error_code> log_reader::take_answer() {
  auto node = co_await topic_->session->answer(asked_.front().answer);
  if (is_cancelled(node.error)) co_return node.error;
  if (is_untold(node.error)) {
    forget_asked();
    co_return co_await position_.pause_before_retry(node.error);
  }
  const auto which = std::move(asked_.front().which);
  asked_.pop_front();
  asked_messages_ -= which.count;
  position_.on_answered();
  take_batch(which, node);
  co_return error_code();
}

/// A batch that can not be read becomes one message, which is parked.
void log_reader::take_batch(const batch_name& which, backend::reply& node) {
  if (node.error == errc::no_node) {  // somebody has removed it
    progress_.pass_over(which.number);
    passed_over_ += which.count;
    drop(which.number);
    return;
  }
  const auto content = node.error ? std::nullopt : unpack(node.data);
  progress_.open(which.number, content ? static_cast<std::uint32_t>(content->size()) : 1);
  message_place where{which.number, 0};
  if (!content) {
    if (progress_.is_settled(where)) return;
    auto what = node.error ? node.error.message() : std::string("its data is not that of a batch");
    return ready_.push_back(make_problem(which, node, std::move(what)));
  }
  for (const auto& [key, data] : *content) {
    if (!progress_.is_settled(where)) {
      ready_.push_back(make_message(where, node));
      ready_.back().key = key;
      ready_.back().data = data;
    }
    ++where.index;
  }
}

/// Its `mtime` is what the engine takes for the first failed attempt.
message log_reader::make_message(const message_place& where, const backend::reply& node) const {
  message made;
  made.name = message_name(where);
  made.stat = node.stat;
  const auto failed = progress_.failed(where);
  made.attempts = failed.count + 1;
  if (failed.count > 0) made.stat.mtime = failed.since;
  return made;
}

message log_reader::make_problem(const batch_name& which, backend::reply& node, std::string what) {
  auto made = make_message({which.number, 0}, node);
  const bool is_kept = !node.error && node.data.size() <= most_bytes_kept;
  if (is_kept) made.data = std::move(node.data);
  if (!is_kept) kept_.insert(which.number);
  if (!is_kept) progress_.keep(which.number);
  problems_[made.name] = "the batch " + which.name + " can not be read: " + what;
  return made;
}

awaitable<outcome<found_messages>> log_reader::read_again(std::vector<std::string> names) {
  found_messages found(names.size());
  auto error = co_await get_ready();
  if (!error && position_.is_outdated()) error = asio::error::operation_aborted;
  std::map<std::int32_t, std::vector<std::size_t>> wanted;  // the places in `names`, by batch
  std::vector<batch_name> which;
  for (std::size_t i = 0; !error && i < names.size(); ++i) {
    const auto where = parse_message_name(names[i]);
    const auto* batch = where && !progress_.is_settled(*where) ? find(where->batch) : nullptr;
    if (!batch) continue;
    if (wanted[where->batch].empty()) which.push_back(*batch);
    wanted[where->batch].push_back(i);
  }
  std::map<std::int32_t, backend::reply> nodes;
  if (!error) error = co_await read_batches(which, nodes);
  if (error) co_return failed<found_messages>(error);
  for (const auto& batch : which) {
    auto& node = nodes[batch.number];
    const auto content = node.error ? std::nullopt : unpack(node.data);
    for (const auto i : wanted[batch.number]) {
      const auto where = parse_message_name(names[i]);
      if (content && where->index < content->size()) {
        found[i] = make_message(*where, node);
        found[i]->key = (*content)[where->index].first;
        found[i]->data = (*content)[where->index].second;
      } else if (!content && node.error != errc::no_node && where->index == 0) {
        found[i] = make_problem(batch, node, "it could not be read again");
      } else {
        progress_.settle(*where);  // it has gone
      }
    }
    if (node.error == errc::no_node) kept_.insert(batch.number);  // others of its messages may be in hand
  }
  co_return outcome<found_messages>(error_code(), std::move(found));
}

/// A few at a time, because each may have a megabyte.
awaitable<error_code> log_reader::read_batches(std::vector<batch_name> which,
                                               std::map<std::int32_t, backend::reply>& into) {
  for (std::size_t from = 0; from < which.size();) {
    std::vector<backend::request> some;
    for (auto i = from; i < std::min(which.size(), from + most_asked); ++i) {
      some.push_back(make_request(opcode::get, batch_path(topic_->where, shard_, which[i].name)));
    }
    auto nodes = co_await topic_->session->perform_all(std::move(some));
    const auto bad = std::ranges::find_if(nodes, [](const backend::reply& each) { return is_untold(each.error); });
    if (bad != nodes.end()) {
      const auto failure = bad->error;
      auto error = co_await position_.pause_before_retry(failure);
      if (error) co_return error;
      continue;
    }
    for (auto& each : nodes) into[which[from++].number] = std::move(each);
  }
  co_return error_code();
}

}  // namespace zkrecipes::detail
