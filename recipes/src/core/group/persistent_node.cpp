#include "group/persistent_node.hpp"

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include <boost/system/errc.hpp>

#include <zkrecipes/persistent_node.hpp>

#include "backend/request.hpp"
#include "session/core.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// The result is not known yet: look at the node again.
constexpr auto inconclusive = errc::connection_loss;

bool is_inconclusive(const error_code& error) { return error == inconclusive || error == errc::session_expired; }

/// Reads the node behind a catch-up, because a server that is behind may not know yet that another client's node stands
/// there.
awaitable<backend::reply> look_closely(core_ptr session, std::string path, incarnation_ptr bound,
                                       lease_clock::time_point until, bool reads_data) {
  const auto look = reads_data ? opcode::get : opcode::exists;  // `exists` needs no right to read
  std::vector<backend::request> both{backend::make_catch_up(), make_request(look, std::move(path))};
  auto answers = co_await session->perform_all(std::move(both), std::move(bound), until);
  if (!has_caught_up(answers[0].error)) answers[1].error = answers[0].error;
  co_return std::move(answers[1]);
}

/// The error of a removal that has left the node in place. Every other result means that the node has gone or goes with
/// its session: no error.
error_code why_it_stays(const kept_identity& own, const error_code& error) {
  return leaves_node(error) || (is_fatal(error) && !own.is_ephemeral) ? error : error_code();
}

/// Whether the node may still stand, so that the removal must be tried again. The end of a session removes an ephemeral
/// node only.
bool is_open(const kept_identity& own, const error_code& error) {
  return error == errc::connection_loss || (error == errc::session_expired && !own.is_ephemeral);
}

/// Removes the node if it is ours. No error: it was removed, or the node that stands there is not ours.
awaitable<error_code> remove_if_own(core_ptr session, const std::string& path, const kept_identity& own,
                                    lease_clock::time_point until) {
  for (;;) {
    auto node = co_await look_closely(session, path, own.binding(), until, static_cast<bool>(own.same));
    if (node.error) co_return node.error;
    if (!own.is_own(node, own.bound)) co_return error_code();
    auto remove = make_request(opcode::remove, path);
    remove.version = node.stat.version;
    auto bound = own.binding();
    auto result = co_await session->perform(std::move(remove), retry::once, std::move(bound), until);
    if (result.error != errc::bad_version) co_return result.error;
  }
}

/// Removes our node, also if it is not known what became of its create. Nothing of ours is left, unless the session
/// ends first. `kept` keeps the session open; it is let go where nobody waits for a connection. The references have to
/// outlive it.
awaitable<error_code> remove_own(core_ptr& kept, const std::string& path, const kept_identity& own,
                                 const persistent_node_options& options) {
  if (!own.bound) co_return error_code();
  auto session = kept->shared_from_this();
  const auto bound = own.binding();
  const auto& on = session->get_scheduler();
  // The end of the session removes an ephemeral node, so without a connection we do not keep the session open. A
  // persistent node would stay, so we wait for a connection, for as long as a session lasts without one.
  const auto let_go = on->now() + (own.is_ephemeral ? std::chrono::milliseconds(0) : session->options().timeout);
  back_off pause(options.first_pause, options.max_pause);
  for (bool is_first = true;; is_first = false) {
    const bool is_at_hand = is_first && session->connected();
    if (on->now() >= let_go && !is_at_hand) kept.reset();
    auto error = co_await remove_if_own(session, path, own, kept ? let_go : never);
    if (is_open(own, error)) continue;
    if (error != errc::server_error) co_return why_it_stays(own, error);
    const bool again = co_await session->rest(pause, bound);
    if (!again) co_return own.is_ephemeral ? error_code() : error;
  }
}

}  // namespace

bool kept_identity::is_own(const backend::reply& node, const incarnation_ptr& here) const {
  if (node.stat.ephemeral_owner != (is_ephemeral ? here->key.id : 0)) return false;
  const bool is_last = node.stat.czxid == czxid;
  // A persistent node has no owner.
  const bool is_same = !same || is_last || same(node.data);
  return is_same && (!stands || is_last);
}

kept_node::kept_node(core_ptr session, std::string path, std::string data, persistent_node_options options,
                     recogniser same, mark_keeper keep_marks)
    : scheduler_(session->get_scheduler()),
      session_(std::move(session)),
      path_(std::move(path)),
      options_(std::move(options)),
      keep_marks_(std::move(keep_marks)),
      own_{options_.mode == create_mode::ephemeral, std::move(same)},
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
  std::exception_ptr failure;
  auto why = make_error_code(errc::closed);
  try {
    co_await keep();
    co_await ignore_cancellation();
    end_ = co_await remove_own(session_, path_, own_, options_);
  } catch (const std::bad_alloc&) {  // its users must not wait for what does not come
    failure = std::current_exception();
    end_ = why = boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
  }
  session_.reset();
  finished_ = true;
  on_absent();
  if (status().error != errc::node_removed) record(why);
  changed_.notify();
  rethrow(failure);
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
      if (refused.is_news(*session_, error)) record(error);
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
  auto bound = own_.binding();
  auto error = co_await session_->wait_connected(bound, never);
  if (error == errc::session_expired) {
    own_.bound.reset();
    on_absent();
    record(error);
  }
  if (error) co_return error;
  auto here = session_->current();
  own_.bound = here;
  exchange_ptr creating;
  const auto making = wanted_;
  if (!own_.stands) {
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
    if (!error && own_.stands) written_ = making;
  }
  auto node = co_await session_->answer(reading);
  if (error) co_return error;
  co_return judge(node, here);
}

/// Waits for the answer to a create, and interprets it.
awaitable<error_code> kept_node::make(const incarnation_ptr& here, exchange_ptr creating) {
  auto made = co_await session_->answer(std::move(creating));
  if (!made.error) on_present(made.stat, true);
  if (made.error == errc::node_exists) made.error.clear();  // the read that follows shows whose it is
  if (made.error == errc::no_node) {
    std::string parent(parent_of(path_));
    auto error = co_await session_->ensure_path(std::move(parent), here);
    co_return error ? error : make_error_code(inconclusive);
  }
  co_return made.error;
}

error_code kept_node::judge(const backend::reply& node, const incarnation_ptr& here) {
  if (!node.error && own_.is_own(node, here)) {
    record_data(node);
    if (!own_.stands && node.data == content()) written_ = wanted_;  // ours, though no reply has told of its creation
    if (!own_.stands) on_present(node.stat, false);
    return {};
  }
  if (node.error && node.error != errc::no_node) return node.error;
  const bool was_there = own_.stands;
  on_absent();
  if (was_there && !options_.restore) return errc::node_removed;
  const bool is_to_be_had = !node.error && own_.is_own(node, here);
  if (node.error || is_to_be_had) return inconclusive;  // gone or made anew: the next round makes or finds it
  in_the_way_ = node.data;
  return node.stat.ephemeral_owner ? errc::busy : errc::foreign_data;
}

/// ZooKeeper has no condition on a node's owner. So we look whose node it is, and write on condition of the version
/// that we saw.
awaitable<error_code> kept_node::write() {
  while (written_ != wanted_) {
    auto node = co_await look_closely(session_, path_, own_.binding(), never, own_.same || keep_marks_);
    if (node.error && node.error != errc::no_node) co_return node.error;
    if (node.error || !own_.is_own(node, own_.bound)) co_return inconclusive;
    record_data(node);
    auto set = make_request(opcode::set, path_);
    set.data = content();
    set.version = node.stat.version;
    const auto writing = wanted_;
    auto bound = own_.binding();
    auto result = co_await session_->perform(std::move(set), retry::once, bound);
    if (result.error == errc::bad_version) continue;  // somebody has written into it
    const bool is_another = !result.error && result.stat.czxid != own_.czxid;
    if (is_another || result.error == errc::no_node) co_return inconclusive;
    if (result.error) co_return result.error;
    written_ = writing;
    ++tries_;
    changed_.notify();
  }
  co_return error_code();
}

persistent_node_status kept_node::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void kept_node::record_data(const backend::reply& node) {
  if (keep_marks_) there_ = node.data;
}

void kept_node::on_present(const node_stat& node, bool made) {
  own_.stands = true;
  own_.czxid = node.czxid;
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

void kept_node::on_absent() {
  if (!std::exchange(own_.stands, false)) return;
  written_ = 0;
  {
    std::lock_guard lock(mutex_);
    status_.present = false;
    status_.czxid = 0;
    ++status_.changes;
  }
  changed_.notify();
}

/// Records the result of a try.
void kept_node::record(const error_code& error) {
  ++tries_;
  {
    std::lock_guard lock(mutex_);
    if (status_.error != error) ++status_.changes;
    status_.error = error;
  }
  changed_.notify();
}

// The operations that the users of a kept node wait for.

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

awaitable<error_code> kept_node::wait_standing(recogniser may_go, lease_clock::duration limit) {
  auto deadline = never;
  for (;;) {
    auto started = co_await wait_started();
    const auto error = std::get<0>(started);
    if (error != errc::busy || !may_go || !may_go(in_the_way_)) co_return error;
    if (deadline == never) deadline = scheduler_->deadline_of(limit);
    auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) co_return error;
  }
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

void require_pause(const char* field, std::chrono::milliseconds value, std::chrono::milliseconds low) {
  if (value >= low && value <= std::chrono::hours(1)) return;
  throw std::invalid_argument("persistent_node_options::" + std::string(field) + " is " +
                              std::to_string(value.count()) + " ms; it must be from " + std::to_string(low.count()) +
                              " ms to 1 h");
}

void check(const std::string& path, const std::string& data, const persistent_node_options& options) {
  require_path("persistent_node path", path);
  if (path == "/") throw std::invalid_argument("persistent_node path \"/\": the root always stands");
  if (is_too_large(data)) throw std::invalid_argument("persistent_node data: more than 1 000 000 bytes");
  if (options.mode != create_mode::ephemeral && options.mode != create_mode::persistent) {
    throw std::invalid_argument("persistent_node_options::mode: it must be ephemeral or persistent");
  }
  require_pause("first_pause", options.first_pause, std::chrono::milliseconds(1));
  require_pause("max_pause", options.max_pause, options.first_pause);
}

}  // namespace

persistent_node::persistent_node(session over, std::string path, std::string data, persistent_node_options options)
    : session_(over.get_core()) {
  check(path, data, options);
  node_ = std::make_shared<kept_node>(require_session(over), std::move(path), std::move(data), std::move(options));
  node_->start();
}

persistent_node::persistent_node(node_ptr node) noexcept : session_(node->session()), node_(std::move(node)) {}
persistent_node::persistent_node() noexcept = default;
persistent_node::persistent_node(persistent_node&&) noexcept = default;

persistent_node& persistent_node::operator=(persistent_node&& other) noexcept {
  if (node_ && node_ != other.node_) node_->close_later();
  session_ = std::move(other.session_);
  node_ = std::move(other.node_);
  return *this;
}

persistent_node::~persistent_node() {
  if (node_) node_->close_later();
}

persistent_node_status persistent_node::status() const {
  if (node_) return node_->status();
  persistent_node_status none;
  none.error = errc::closed;
  return none;
}

persistent_node::executor_type persistent_node::get_executor() const noexcept {
  return node_ ? node_->get_scheduler()->base : executor_type();
}

const std::string& persistent_node::path() const noexcept { return node_ ? node_->path() : no_path(); }

const persistent_node_options& persistent_node::options() const noexcept {
  static const persistent_node_options defaults;
  return node_ ? node_->options() : defaults;
}

void persistent_node::start_started(handler_for<void(error_code)> h, node_ptr node) {
  launch(std::move(h), std::move(node), &kept_node::wait_started);
}

void persistent_node::start_set_data(handler_for<void(error_code)> h, node_ptr node, std::string data) {
  launch(std::move(h), std::move(node), &kept_node::set_data, std::move(data));
}

void persistent_node::start_status_change(handler_for<void(error_code, persistent_node_status)> h, node_ptr node,
                                          std::uint64_t seen) {
  launch_endless(std::move(h), std::move(node), &kept_node::wait_status_change, seen);
}

void persistent_node::start_close(handler_for<void(error_code)> h, node_ptr node) {
  launch(std::move(h), std::move(node), &kept_node::close);
}

}  // namespace zkrecipes
