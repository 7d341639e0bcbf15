#include "group/children_view.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <zkrecipes/children_view.hpp>

#include "session/core.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::size_t max_under_way = 1'000;  // reads; a server takes about that many requests of a connection
constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds max_pause{10'000};

bool is_current(const std::unique_ptr<watch>& hint) { return hint && !hint->fired(); }

}  // namespace

children_reader::children_reader(core_ptr session, std::string path, children_view_options options)
    : scheduler_(session->get_scheduler()),
      session_(std::move(session)),
      path_(std::move(path)),
      options_(std::move(options)),
      hinted_(scheduler_),
      told_(scheduler_) {
  options_.accept = guarded(*scheduler_, std::move(options_.accept));
}

void children_reader::start() {
  asio::post(scheduler_->strand, [self = shared_from_this()] {
    self->work_.run(self->scheduler_->strand, owning(self, &children_reader::run));
  });
}

void children_reader::stop_later() {
  asio::post(scheduler_->strand, [self = shared_from_this()] { self->work_.stop(); });
}

awaitable<void> children_reader::run() {
  co_await follow();
  slots_.clear();  // removes their watches, too
  parent_hint_.reset();
  session_.reset();
  if (!is_fatal(error_)) report(errc::closed);
}

awaitable<void> children_reader::follow() {
  back_off pause(first_pause, max_pause);
  refusals refused;
  for (;;) {
    const auto begun = scheduler_->now();
    auto error = co_await look();
    if (error == asio::error::operation_aborted) co_return;
    if (error == errc::connection_loss) continue;
    if (refused.is_news(*session_, error)) report(error);
    if (is_fatal(error)) co_return;
    if (!error) pause.reset();
    const auto not_before = error ? pause.next(*scheduler_) : begun + options_.interval;
    const bool goes_on = co_await await_next(!error, not_before);
    if (!goes_on) co_return;
  }
}

/// Waits until the next reading is due: at `not_before` at the earliest and, with `only_if_changed`, not before
/// something has changed. False: cancelled.
awaitable<bool> children_reader::await_next(bool only_if_changed, lease_clock::time_point not_before) {
  while (only_if_changed && !is_outdated()) {
    auto why = co_await hinted_.wait();
    if (why == wake::cancelled) co_return false;
  }
  for (;;) {
    auto why = co_await hinted_.wait(not_before);
    if (why != wake::notified) co_return why == wake::timed_out;
  }
}

/// Reads everything that is out of date, each node once: the list in one round trip, the nodes in another one (1 000 at
/// a time). Changes that happen meanwhile are left for the next reading, else nodes that change all the time would
/// never give a view.
awaitable<error_code> children_reader::look() {
  auto error = co_await session_->wait_connected(nullptr, never);
  if (!error && !is_current(parent_hint_)) error = co_await list();
  const auto names = outdated();
  for (std::size_t done = 0; !error && done < names.size(); done += max_under_way) {
    error = co_await read(std::span(names).subspan(done, std::min(max_under_way, names.size() - done)));
  }
  if (!error) publish();
  if (error == errc::session_expired) error = errc::connection_loss;  // the view goes on in the next session
  co_return error;
}

awaitable<error_code> children_reader::list() {
  auto hint = session_->arm(watch_kind::children, path_, hinted_);
  auto sent = session_->send(make_request(opcode::children, path_, true));
  auto listed = co_await session_->answer(sent);
  if (listed.error == errc::no_node) co_return co_await await_parent();
  if (listed.error) co_return listed.error;
  parent_hint_ = std::move(hint);
  exists_ = true;
  keep_only(listed.children);
  co_return error_code();
}

/// The parent is missing. Watches for its creation by `exists`, the only request that sets a watch on a missing node.
awaitable<error_code> children_reader::await_parent() {
  auto hint = session_->arm(watch_kind::data, path_, hinted_);
  auto sent = session_->send(make_request(opcode::exists, path_, true));
  auto there = co_await session_->answer(sent);
  if (!there.error) co_return errc::connection_loss;  // it was created meanwhile: look again
  if (there.error != errc::no_node) co_return there.error;
  parent_hint_ = std::move(hint);
  exists_ = false;
  slots_.clear();
  co_return error_code();
}

void children_reader::keep_only(const std::vector<std::string>& names) {
  slots kept;
  for (const auto& name : names) {
    auto found = slots_.extract(name);
    if (found) {
      kept.insert(std::move(found));
    } else {
      kept.try_emplace(name);
    }
  }
  slots_ = std::move(kept);
}

/// Reads these children together, in one round trip.
awaitable<error_code> children_reader::read(std::span<const std::string> names) {
  std::vector<exchange_ptr> sent;
  for (const auto& name : names) {
    const auto path = join(path_, name);
    slots_[name].hint = session_->arm(watch_kind::data, path, hinted_);
    // By getData, because `exists` would leave a watch on a node that has gone.
    sent.push_back(session_->send(make_request(opcode::get, path, true)));
  }
  error_code error;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    auto answer = co_await session_->answer(sent[i]);
    auto failed = accept(names[i], std::move(answer));
    if (!error) error = failed;
  }
  co_return error;
}

error_code children_reader::accept(const std::string& name, backend::reply answer) {
  auto found = slots_.find(name);
  if (answer.error == errc::no_node) {
    slots_.erase(found);  // the watch on the list, set before, will report that
    return {};
  }
  if (answer.error && answer.error != errc::no_auth) {
    found->second.hint.reset();  // the node was not read
    return answer.error;
  }
  auto& known = found->second.node;
  child_node read{name, std::move(answer.data), answer.stat, answer.error};
  const bool same = known && known->stat.czxid == read.stat.czxid && known->stat.mzxid == read.stat.mzxid &&
                    known->error == read.error;
  if (!same) known = std::make_shared<const child_node>(std::move(read));
  return {};
}

std::vector<std::string> children_reader::outdated() const {
  std::vector<std::string> names;
  for (const auto& [name, each] : slots_) {
    if (!is_current(each.hint)) names.push_back(name);
  }
  return names;
}

bool children_reader::is_outdated() const {
  return !is_current(parent_hint_) ||
         std::any_of(slots_.begin(), slots_.end(), [](const auto& each) { return !is_current(each.second.hint); });
}

void children_reader::publish() {
  children_snapshot now;
  now.exists = exists_;
  for (const auto& [name, each] : slots_) {
    if (!options_.accept || options_.accept(*each.node)) now.nodes.push_back(each.node);
  }
  std::lock_guard lock(mutex_);
  snapshot_ = std::move(now);
}

void children_reader::report(const error_code& error) {
  error_ = error;
  if (!error) ready_ = true;
  told_.notify();
}

awaitable<outcome<children_snapshot>> children_reader::current() {
  for (;;) {
    if (error_) co_return outcome<children_snapshot>(error_, children_snapshot());
    if (ready_) co_return outcome<children_snapshot>(error_code(), snapshot());
    auto why = co_await told_.wait();
    if (why == wake::cancelled) {
      co_return outcome<children_snapshot>(asio::error::operation_aborted, children_snapshot());
    }
  }
}

awaitable<outcome<children_change>> children_reader::change(children_snapshot seen) {
  for (;;) {
    if (error_) co_return outcome<children_change>(error_, children_change());
    auto found = difference(seen, snapshot());
    const bool differs = found.now.exists != seen.exists || !found.empty();
    if (ready_ && differs) co_return outcome<children_change>(error_code(), std::move(found));
    auto why = co_await told_.wait();
    if (why == wake::cancelled) co_return outcome<children_change>(asio::error::operation_aborted, children_change());
  }
}

children_snapshot children_reader::snapshot() const {
  std::lock_guard lock(mutex_);
  return snapshot_;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

namespace {

bool by_name(const child_ptr& node, std::string_view name) { return node->name < name; }

bool is_same_node(const child_node& one, const child_node& other) { return one.stat.czxid == other.stat.czxid; }

bool is_same(const child_node& one, const child_node& other) {
  return is_same_node(one, other) && one.stat.mzxid == other.stat.mzxid && one.error == other.error;
}

}  // namespace

child_ptr children_snapshot::find(std::string_view name) const {
  auto found = std::lower_bound(nodes.begin(), nodes.end(), name, &by_name);
  return found != nodes.end() && (*found)->name == name ? *found : nullptr;
}

children_change difference(const children_snapshot& before, const children_snapshot& now) {
  children_change result;
  result.now = now;
  for (const auto& each : now.nodes) {
    auto known = before.find(each->name);
    if (known && is_same(*known, *each)) continue;
    (known && is_same_node(*known, *each) ? result.changed : result.added).push_back(each);
  }
  for (const auto& each : before.nodes) {
    auto present = now.find(each->name);
    if (!present || !is_same_node(*present, *each)) result.removed.push_back(each);
  }
  return result;
}

using namespace detail;

children_view::children_view(session over, std::string path, children_view_options options)
    : session_(std::move(over)), options_(std::move(options)) {
  require_path("children_view path", path);
  if (options_.interval < std::chrono::milliseconds(0) || options_.interval > std::chrono::hours(1)) {
    throw std::invalid_argument("children_view_options::interval is " + std::to_string(options_.interval.count()) +
                                " ms; it must be from 0 to 1 h");
  }
  reader_ = std::make_shared<children_reader>(require_session(session_), std::move(path), options_);
  reader_->start();
}

children_view::children_view() noexcept = default;
children_view::children_view(children_view&&) noexcept = default;

children_view& children_view::operator=(children_view&& other) noexcept {
  if (reader_ && reader_ != other.reader_) reader_->stop_later();
  session_ = std::move(other.session_);
  options_ = std::move(other.options_);
  reader_ = std::move(other.reader_);
  return *this;
}

children_view::~children_view() {
  if (reader_) reader_->stop_later();
}

children_snapshot children_view::snapshot() const { return reader_ ? reader_->snapshot() : children_snapshot(); }
const std::string& children_view::path() const noexcept { return reader_ ? reader_->path() : no_path(); }

void children_view::start_current(handler_for<void(error_code, children_snapshot)> h, reader_ptr reader) {
  launch(std::move(h), std::move(reader), &children_reader::current);
}

void children_view::start_change(handler_for<void(error_code, children_change)> h, reader_ptr reader,
                                 children_snapshot seen) {
  launch_endless(std::move(h), std::move(reader), &children_reader::change, std::move(seen));
}

}  // namespace zkrecipes
