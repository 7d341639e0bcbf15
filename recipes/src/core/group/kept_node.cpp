#include "group/kept_node.hpp"

#include <utility>

#include "session/refusals.hpp"
#include "session/request_size.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// The result is not known yet: look at the node again.
constexpr auto inconclusive = errc::connection_loss;

bool is_inconclusive(const error_code& error) { return error == inconclusive || error == errc::session_expired; }

}  // namespace

kept_node::kept_node(core_ptr session, std::string path, std::string data, persistent_node_options options,
                     recogniser same, mark_keeper keep_marks)
    : scheduler_(session->get_scheduler()),
      session_(std::move(session)),
      path_(std::move(path)),
      options_(std::move(options)),
      same_(std::move(same)),
      keep_marks_(std::move(keep_marks)),
      data_(std::move(data)),
      changed_(scheduler_) {}

void kept_node::start() {
  asio::post(scheduler_->strand,
             [self = shared_from_this()] { self->work_.run(self->scheduler_->strand, owning(self, &kept_node::run)); });
}

void kept_node::close_later() {
  asio::post(scheduler_->strand, [self = shared_from_this()] { self->work_.stop(); });
}

awaitable<void> kept_node::run() {
  co_await keep();
  co_await ignore_cancellation();
  end_ = co_await remove_own();
  session_.reset();
  finished_ = true;
  note_absent();
  if (status().error != errc::node_removed) note(errc::closed);
  changed_.notify();
}

awaitable<void> kept_node::keep() {
  back_off pause(options_.first_pause, options_.max_pause);
  refusals refused;
  for (;;) {
    auto hint = session_->arm(watch_kind::data, path_, changed_);
    auto error = co_await stand();
    for (;;) {
      if (!error) error = co_await write();
      if (is_inconclusive(error)) break;
      if (error == asio::error::operation_aborted) co_return;
      if (refused.is_news(*session_, error)) note(error);
      if (is_fatal(error) || error == errc::node_removed) co_return;
      const bool look_again = co_await rest(*hint, error, pause);
      const bool stopped = co_await cancelled();
      if (stopped) co_return;
      if (look_again) break;
    }
  }
}

/// Waits until there is something to do. True: look at the node. False: only its data has to be written.
awaitable<bool> kept_node::rest(const watch& hint, const error_code& error, back_off& pause) {
  const bool in_the_way = error == errc::busy || error == errc::foreign_data;
  if (!error || in_the_way) pause.reset();
  const auto until = error && !in_the_way ? pause.next(*scheduler_) : never;
  const auto wanted = wanted_;
  while (!hint.fired() && wanted == wanted_) {
    auto why = co_await changed_.wait(until);
    if (why != wake::notified) co_return true;
  }
  co_return error || hint.fired();
}

/// Reads the node and sets a watch. If the node is not known to stand, creates it first, in the same round trip.
awaitable<error_code> kept_node::stand() {
  auto bound = binding();
  auto error = co_await session_->wait_connected(bound, never);
  if (error == errc::session_expired) {
    bound_.reset();
    note_absent();
    note(error);
  }
  if (error) co_return error;
  auto here = session_->current();
  bound_ = here;
  exchange_ptr creating;
  const auto making = wanted_;
  if (!stands_) {
    auto create = make_request(opcode::create, path_);
    create.data = content();
    create.mode = options_.mode;
    create.access = options_.access;
    creating = session_->send(std::move(create));
  }
  auto get = make_request(opcode::get, path_, true);
  auto reading = session_->send(std::move(get));
  if (creating) {
    error = co_await make(here, creating);
    if (!error && stands_) written_ = making;
  }
  auto node = co_await session_->answer(reading);
  if (error) co_return error;
  co_return judge(node, here);
}

/// Waits for the answer to a create, and interprets it.
awaitable<error_code> kept_node::make(const incarnation_ptr& here, exchange_ptr creating) {
  auto made = co_await session_->answer(std::move(creating));
  if (!made.error) note_present(made.stat, true);
  if (made.error == errc::node_exists) made.error.clear();  // the read that follows shows whose it is
  if (made.error == errc::no_node) {
    std::string parent(parent_of(path_));
    auto error = co_await session_->ensure_path(std::move(parent), here);
    co_return error ? error : make_error_code(inconclusive);
  }
  co_return made.error;
}

error_code kept_node::judge(const backend::reply& node, const incarnation_ptr& here) {
  if (!node.error && is_own(node, here)) {
    note_data(node);
    if (!stands_ && node.data == content()) written_ = wanted_;  // ours, though no reply has told of its creation
    if (!stands_) note_present(node.stat, false);
    return {};
  }
  if (node.error && node.error != errc::no_node) return node.error;
  const bool was_there = stands_;
  note_absent();
  if (was_there && !options_.restore) return errc::node_removed;
  const bool is_to_be_had = !node.error && is_own(node, here);
  if (node.error || is_to_be_had) return inconclusive;  // gone or made anew: the next round makes or finds it
  in_the_way_ = node.data;
  return node.stat.ephemeral_owner ? errc::busy : errc::foreign_data;
}

bool kept_node::is_ours(const node_stat& node, const incarnation_ptr& here) const {
  return node.ephemeral_owner == (ephemeral() ? here->key.id : 0);
}

/// Whether a persistent node, which has no owner, is the one that we keep.
bool kept_node::is_same(const backend::reply& node) const {
  return !same_ || node.stat.czxid == czxid_ || same_(node.data);
}

/// While our node is known to stand, only a node with its `czxid` is ours. Another one in its place is not, even if it
/// could be.
bool kept_node::is_own(const backend::reply& node, const incarnation_ptr& here) const {
  return is_ours(node.stat, here) && is_same(node) && (!stands_ || node.stat.czxid == czxid_);
}

/// Reads the node behind a catch-up, because a server that is behind may not know yet that another client's node stands
/// there.
awaitable<backend::reply> kept_node::look_closely(std::shared_ptr<core> session, lease_clock::time_point until,
                                                  bool reads_data) {
  const auto look = reads_data ? opcode::get : opcode::exists;  // `exists` needs no right to read
  std::vector<backend::request> both{backend::make_catch_up(), make_request(look, path_)};
  auto bound = binding();
  auto answers = co_await session->perform_all(std::move(both), std::move(bound), until);
  if (!has_caught_up(answers[0].error)) answers[1].error = answers[0].error;
  co_return std::move(answers[1]);
}

/// ZooKeeper has no condition on a node's owner. So we look whose node it is, and write on condition of the version
/// that we saw.
awaitable<error_code> kept_node::write() {
  while (written_ != wanted_) {
    auto node = co_await look_closely(session_, never, same_ || keep_marks_);
    if (node.error && node.error != errc::no_node) co_return node.error;
    if (node.error || !is_own(node, bound_)) co_return inconclusive;
    note_data(node);
    auto set = make_request(opcode::set, path_);
    set.data = content();
    set.version = node.stat.version;
    const auto writing = wanted_;
    auto bound = binding();
    auto result = co_await session_->perform(std::move(set), retry::once, bound);
    if (result.error == errc::bad_version) continue;  // somebody has written into it
    const bool is_another = !result.error && result.stat.czxid != czxid_;
    if (is_another || result.error == errc::no_node) co_return inconclusive;
    if (result.error) co_return result.error;
    written_ = writing;
    ++tries_;
    changed_.notify();
  }
  co_return error_code();
}

/// Removes our node, also if it is not known what became of its create. Nothing of ours is left, unless the session
/// ends first.
awaitable<error_code> kept_node::remove_own() {
  if (!bound_) co_return error_code();
  auto session = session_->shared_from_this();
  const auto bound = binding();
  // The end of the session removes an ephemeral node, so without a connection we do not keep the session open. A
  // persistent node would stay, so we wait for a connection, for as long as a session lasts without one.
  const auto let_go = scheduler_->now() + (ephemeral() ? std::chrono::milliseconds(0) : session->options().timeout);
  back_off pause(options_.first_pause, options_.max_pause);
  for (bool is_first = true;; is_first = false) {
    const bool is_at_hand = is_first && session->connected();
    if (scheduler_->now() >= let_go && !is_at_hand) session_.reset();
    auto error = co_await remove_if_own(session, session_ ? let_go : never);
    if (is_open(error)) continue;
    if (error != errc::server_error) co_return why_it_stays(error);
    const bool again = co_await session->rest(pause, bound);
    if (!again) co_return ephemeral() ? error_code() : error;
  }
}

/// Removes the node if it is ours. No error: it was removed, or the node that stands there is not ours.
awaitable<error_code> kept_node::remove_if_own(std::shared_ptr<core> session, lease_clock::time_point until) {
  for (;;) {
    auto node = co_await look_closely(session, until, static_cast<bool>(same_));
    if (node.error) co_return node.error;
    if (!is_own(node, bound_)) co_return error_code();
    auto remove = make_request(opcode::remove, path_);
    remove.version = node.stat.version;
    auto bound = binding();
    auto result = co_await session->perform(std::move(remove), retry::once, std::move(bound), until);
    if (result.error != errc::bad_version) co_return result.error;
  }
}

/// The error of a removal that has left the node in place. Every other result means that the node has gone or goes with
/// its session: no error.
error_code kept_node::why_it_stays(const error_code& error) const {
  return leaves_node(error) || (is_fatal(error) && !ephemeral()) ? error : error_code();
}

/// Whether the node may still stand, so that the removal must be tried again. The end of a session removes an ephemeral
/// node only.
bool kept_node::is_open(const error_code& error) const {
  return error == errc::connection_loss || (error == errc::session_expired && !ephemeral());
}

persistent_node_status kept_node::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void kept_node::note_data(const backend::reply& node) {
  if (keep_marks_) there_ = node.data;
}

void kept_node::note_present(const node_stat& node, bool made) {
  stands_ = true;
  czxid_ = node.czxid;
  {
    std::lock_guard lock(mutex_);
    status_.present = true;
    status_.error.clear();
    status_.czxid = node.czxid;
    status_.created += made;
    ++status_.changes;
  }
  changed_.notify();
}

void kept_node::note_absent() {
  if (!std::exchange(stands_, false)) return;
  written_ = 0;
  {
    std::lock_guard lock(mutex_);
    status_.present = false;
    status_.czxid = 0;
    ++status_.changes;
  }
  changed_.notify();
}

/// Notes the result of a try.
void kept_node::note(const error_code& error) {
  ++tries_;
  {
    std::lock_guard lock(mutex_);
    if (status_.error != error) ++status_.changes;
    status_.error = error;
  }
  changed_.notify();
}

}  // namespace zkrecipes::detail

// The operations that the users of a kept node wait for.
namespace zkrecipes::detail {

awaitable<outcome<>> kept_node::wait_started() {
  for (;;) {
    const auto now = status();
    if (finished_) co_return outcome<>(now.error);
    if (now.present && !now.error && written_ > 0) co_return outcome<>(error_code());
    // `session_expired` is not reported, because the node is made again in the next session.
    if (now.error && now.error != errc::session_expired) co_return outcome<>(now.error);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> kept_node::set_data(std::string data) {
  if (is_too_large(data)) co_return outcome<>(errc::too_large);
  data_ = std::move(data);
  const auto mine = ++wanted_;
  const auto tries = tries_;
  changed_.notify();
  for (;;) {
    if (written_ >= mine) co_return outcome<>(error_code());
    const auto error = status().error;
    if (finished_) co_return outcome<>(error);
    if (tries_ > tries && error && error != errc::session_expired) co_return outcome<>(error);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<persistent_node_status>> kept_node::wait_status_change(std::uint64_t seen) {
  for (;;) {
    const auto now = status();
    if (now.changes > seen) co_return outcome<persistent_node_status>(error_code(), now);
    if (finished_) co_return outcome<persistent_node_status>(errc::closed, now);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<persistent_node_status>(asio::error::operation_aborted, now);
  }
}

awaitable<outcome<>> kept_node::close() {
  work_.stop();
  while (!finished_) {
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
  co_return outcome<>(end_);
}

awaitable<error_code> kept_node::wait_standing(recogniser may_go, lease_clock::duration patience) {
  auto deadline = never;
  for (;;) {
    auto started = co_await wait_started();
    const auto error = std::get<0>(started);
    if (error != errc::busy || !may_go || !may_go(in_the_way_)) co_return error;
    if (deadline == never) deadline = scheduler_->deadline_of(patience);
    auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) co_return error;
  }
}

}  // namespace zkrecipes::detail
