#include "line/own_node.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "line/line_spec.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

void take_place(line_place& ours, std::string path, const node_stat& stat, const line_spec& line) {
  ours.path = std::move(path);
  ours.token = stat.czxid;
  ours.sequence = parse_sequence(name_of(ours.path), line.accepted).value_or(-1);
}

/// After a lost reply: our node, if it was created after all, is the one with our GUID that belongs to our session.
awaitable<error_code> find_own(const core_ptr& session, const line_spec& line, line_place& ours, line_reading& seen) {
  auto children = make_request(opcode::children, line.parent);
  auto listed = co_await session->perform(std::move(children), retry::always, ours.bound);
  if (listed.error == errc::no_node) co_return error_code();
  if (listed.error) co_return listed.error;
  auto members = members_of(listed.children, line.accepted);
  for (const auto& each : members) {
    if (each.name.find(ours.guid) == each.name.npos) continue;
    auto exists = make_request(opcode::exists, join(line.parent, each.name));
    auto found = co_await session->perform(exists, retry::always, ours.bound);
    if (found.error && found.error != errc::no_node) co_return found.error;
    if (found.error || found.stat.ephemeral_owner != ours.bound->key.id) continue;
    take_place(ours, exists.path, found.stat, line);
    seen.members = std::make_shared<const std::vector<member>>(std::move(members));
    co_return check_neighbours(*session, ours, strangers_among(listed.children, line.accepted));
  }
  co_return error_code();
}

}  // namespace

awaitable<error_code> enter_line(const core_ptr& session, const line_spec& line, const std::string& data,
                                 line_place& ours, line_reading& seen) {
  auto pass = co_await session->entrance().enter(session->get_scheduler());
  if (!pass) co_return asio::error::operation_aborted;
  auto pause = session->backoff();
  for (;;) {
    auto error = co_await session->wait_connected(ours.bound, never);
    if (error) co_return error;
    if (!ours.bound) ours.bound = session->current();
    // The list is executed right behind the create, so both cost one round trip.
    auto node = make_request(opcode::create, join(line.parent, protected_name(ours.guid, line.marker)));
    node.data = data;
    node.mode = create_mode::ephemeral_sequential;
    auto creating = session->send(std::move(node));
    auto listing = roll_call::of(session, line);
    auto created = co_await session->answer(creating);
    auto listed = co_await listing->wait();
    if (!created.error) {
      take_place(ours, std::move(created.path), created.stat, line);
      if (listed) seen = line_reading{std::move(listed), listing->parent()};
      co_return check_neighbours(*session, ours, listing->strangers());
    }
    if (created.error == errc::no_node) {
      error = co_await session->ensure_path(line.parent, ours.bound);
      if (error) co_return error;
    } else if (created.error == errc::connection_loss) {
      ours.may_have_ghost = true;
      error = co_await find_own(session, line, ours, seen);
      if (error || !ours.path.empty()) co_return error;
    } else if (created.throttled) {
      error = co_await session->pause_before_retry(pause, ours.bound);
      if (error) co_return error;
    } else {
      if (created.error == asio::error::operation_aborted || created.error == errc::server_error) {
        ours.may_have_ghost = true;
      }
      co_return created.error;
    }
  }
}

error_code check_neighbours(core& session, const line_place& ours, const std::vector<std::int32_t>& strangers) {
  const bool is_used = std::ranges::any_of(strangers, [&](std::int32_t each) { return before(each, ours.sequence); });
  if (!is_used && !is_exhausted(ours.sequence)) return error_code();
  session.remove_surely(ours.path, ours.bound);
  return is_used ? errc::foreign_data : errc::sequence_exhausted;
}

roll_call::roll_call(core_ptr session, const line_spec& line)
    : session_(std::move(session)),
      parent_(line.parent),
      accepted_(line.accepted),
      reads_parent_(line.reads_parent),
      changed_(session_->get_scheduler()) {}

std::shared_ptr<roll_call> roll_call::of(const core_ptr& session, const line_spec& line) {
  const auto make = [&] {
    auto made = std::make_shared<roll_call>(session, line);
    // Later: behind all who are about to get in line.
    asio::post(session->strand(), [made] { launch_detached(made->session_->strand(), owning(made, &roll_call::ask)); });
    return made;
  };
  auto& commons = session->commons();
  auto next = commons.join<roll_call>(line.parent, make);
  if (!next->suits(line)) commons.at<roll_call>(line.parent) = next = make();
  return next;
}

bool roll_call::suits(const line_spec& line) const {
  return accepted_.data() == line.accepted.data() && reads_parent_ == line.reads_parent;
}

/// Those who wait are told in any case: without a list they make one of their own.
awaitable<void> roll_call::ask() {
  session_->commons().end<roll_call>(parent_);  // who comes now stands behind our list
  try {
    co_await list();
  } catch (const std::bad_alloc&) {
  }
  answered_ = true;
  changed_.notify();
}

awaitable<void> roll_call::list() {
  exchange_ptr reading;
  if (reads_parent_ == parent_reading::before_list) reading = read_parent();
  auto children = make_request(opcode::children, parent_);
  auto listing = session_->send(std::move(children));
  if (reads_parent_ == parent_reading::after_list) reading = read_parent();
  auto listed = co_await session_->answer(listing);
  if (reading) {
    auto parent = co_await session_->answer(reading);
    if (!parent.error) parent_node_ = std::make_shared<const backend::reply>(std::move(parent));
  }
  if (!listed.error) {
    session_->remove_orphans(parent_, listed.children);
    strangers_ = strangers_among(listed.children, accepted_);
    present_ = std::make_shared<const std::vector<member>>(members_of(listed.children, accepted_));
  }
}

exchange_ptr roll_call::read_parent() {
  auto parent = make_request(opcode::get, parent_);
  return session_->send(std::move(parent));
}

awaitable<member_list> roll_call::wait() {
  while (!answered_) {
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return nullptr;
  }
  co_return present_;
}

error_code node_hold::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

lease_clock::time_point node_hold::valid_until() const {
  return lost() ? lease_clock::time_point{} : session_.valid_until(which_.bound->number);
}

error_code node_hold::error() const {
  const auto doubt = session_.invalid(which_.bound->number);
  std::lock_guard lock(mutex_);
  if (lost_ || doubt) return lost_ ? lost_ : doubt;
  return session_.now() < until_ ? error_code() : errc::revoked;
}

bool node_hold::end(error_code why) {
  std::lock_guard lock(mutex_);
  if (lost_) return false;
  lost_ = why;
  return true;
}

void node_hold::limit(lease_clock::time_point when) {
  std::lock_guard lock(mutex_);
  until_ = std::min(until_, when);
}

lease_clock::time_point node_hold::believed_until() const {
  return std::min(session_.valid_until(which_.bound->number), until_);
}

error_code node_hold::due() const {
  if (which_.bound->ended) return which_.bound->ended;
  if (session_.now() >= session_.valid_until(which_.bound->number)) return errc::lease_lapsed;
  return session_.now() >= until_ ? make_error_code(errc::revoked) : error_code();
}

own_node::own_node(core_ptr session, line_spec line, std::string data)
    : session_(std::move(session)),
      line_(std::move(line)),
      hold_(*session_, place_),
      guard_(*this, std::move(data)),
      changed_(session_->get_scheduler()) {}

awaitable<outcome<line_reading>> own_node::create() {
  place_.guid = session_->make_own_guid(weak_from_this());
  line_reading seen;
  error_code error;
  try {
    error = co_await enter_line(session_, line_, content().data, place_, seen);
    if (!error) guard_.start();
  } catch (...) {  // no memory
    if (bound()) session_->remove_all_surely(line_.parent, place_.guid, bound());
    throw;
  }
  if (error && place_.may_have_ghost) session_->remove_all_surely(line_.parent, place_.guid, bound());
  if (error) co_return failed<line_reading>(error);
  co_return outcome<line_reading>(error, std::move(seen));
}

awaitable<outcome<>> own_node::wait_lost() {
  for (;;) {
    if (auto why = lost()) co_return outcome<>(why);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> own_node::wait_revoked() {
  for (;;) {
    if (auto why = lost()) co_return outcome<>(why);
    if (revoked()) co_return outcome<>(errc::revoked);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<error_code> own_node::wait_held(condition& told, lease_clock::time_point until) {
  auto why = co_await told.wait(std::min(until, hold_.believed_until()));
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  lose_if_over();
  co_return lost();
}

awaitable<error_code> own_node::confirm() {
  if (!lose_if_over() && guard_.is_deletion_told()) co_return std::get<error_code>(co_await wait_lost());
  co_return lost();
}

bool own_node::lose_if_over() {
  if (lost()) return true;
  if (const auto why = hold_.due()) lose(why);
  return static_cast<bool>(lost());
}

void own_node::lose(error_code why) {
  if (!hold_.end(why)) return;
  changed_.notify();
  clear_away(why == errc::lease_lapsed || why == errc::revoked);  // if the session lives after all
}

void own_node::disown() {
  if (hold_.end(errc::closed)) changed_.notify();
}

void own_node::give_up_by(lease_clock::time_point when) {
  hold_.limit(when);
  changed_.notify();  // the guard waits until the former time
}

void own_node::clear_away(bool node_too) {
  try {
    if (node_too) session_->remove_surely(path(), bound());
    if (place_.may_have_ghost) session_->remove_all_surely(line_.parent, place_.guid, bound());
  } catch (...) {  // as in `leave_later`
    std::terminate();
  }
}

awaitable<outcome<>> own_node::leave() {
  if (lost()) co_return outcome<>(error_code());
  leaving another_try(shared_from_this());
  auto own = path();
  auto remove = make_request(backend::opcode::remove, own);
  auto sent = session_->send(std::move(remove));
  another_try.keep();
  lose(errc::closed);
  auto removing = session_->remove_surely(std::move(own), bound(), std::move(sent));
  // An answer may be there already: without a connection it comes at once.
  while (!removing->is_over && removing->answer != errc::connection_loss) {
    const bool is_refused = leaves_node(removing->answer) && removing->answer != errc::server_error;
    if (is_refused) co_return outcome<>(removing->answer);
    auto why = co_await removing->changed.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
  co_return outcome<>(error_code());
}

/// Called by destructors. Without memory the node would stay as long as the session, so the process ends, and says why.
void own_node::leave_later() noexcept {
  try {
    asio::post(session_->strand(), [self = shared_from_this()] {
      launch_detached(self->session_->strand(), owning(self, &own_node::leave));
    });
  } catch (...) {
    std::terminate();
  }
}

namespace {

/// Sends all of these requests at once.
awaitable<outcome<std::vector<backend::reply>>> ask_once(own_node& node, const std::vector<backend::request>& all) {
  using result_type = outcome<std::vector<backend::reply>>;
  const auto& session = node.session();
  auto error = node.lost();
  while (!error && !session->connected()) error = co_await node.wait_held(session->changed());
  if (error) co_return result_type(error, {});
  std::vector<exchange_ptr> sent;
  for (const auto& each : all) sent.push_back(session->send(each));
  std::vector<backend::reply> answers;
  bool is_broken = false;
  for (const auto& each : sent) {
    while (!error && !each->answer) error = co_await node.wait_held(each->done);
    if (error) co_return result_type(error, {});
    is_broken = is_broken || each->answer->error == errc::connection_loss;
    answers.push_back(std::move(*each->answer));
  }
  if (is_broken) {
    error = errc::connection_loss;
    co_await session->before_retry();
  }
  co_return result_type(error, std::move(answers));
}

}  // namespace

awaitable<outcome<std::vector<backend::reply>>> ask(own_node& node, std::vector<backend::request> all) {
  const auto& session = node.session();
  auto pause = session->backoff();
  for (;;) {
    auto answered = co_await ask_once(node, all);
    auto& [error, answers] = answered;
    if (error || std::ranges::none_of(answers, &backend::reply::throttled)) co_return answered;
    for (const auto until = pause.next(*session->get_scheduler()); !error && session->now() < until;) {
      error = co_await node.wait_held(node.changed(), until);
    }
    if (error) co_return answered;
  }
}

namespace {

constexpr std::chrono::milliseconds first_look_pause{100};
constexpr std::chrono::milliseconds max_look_pause{10'000};

}  // namespace

void node_guard::start() {
  content_.written = node_.token();
  const auto& session = *node_.session();
  holder_ = node_.session()->add_holder(node_.changed());
  try {
    launch_detached(session.strand(), run(node_.shared_from_this()));
  } catch (...) {
    node_.session()->remove_holder(holder_);
    throw;
  }
}

awaitable<void> node_guard::run(own_node_ptr node) {
  auto& self = node->guard_;
  const auto begin = [&self] { return self.watch_node(); };
  co_await outlast(node->session()->get_scheduler(), begin);
  node->session()->remove_holder(self.holder_);
}

awaitable<void> node_guard::watch_node() {
  const auto node = node_.shared_from_this();
  const auto& session = node->session();
  const auto& hold = node->hold();
  back_off pause(first_look_pause, max_look_pause);
  while (!node->lost()) {
    const std::shared_ptr<watch> hint = session->arm(watch_kind::data, node->path(), node->changed());
    hint_ = hint;
    auto looking = session->send(make_request(backend::opcode::get, node->path(), true));
    // Not `perform`: without a connection the clock has to be watched all the same.
    while (!looking->answer && !node->lost() && !node->bound()->ended) {
      if (session->now() >= hold.believed_until()) break;
      co_await looking->done.wait(hold.believed_until());
    }
    if (looking->answer && looking->answer->error == errc::no_node) node->lose(errc::node_removed);
    if (looking->answer && !looking->answer->error) read(*looking->answer);
    const bool watching = looking->answer && looking->answer->error != errc::connection_loss;
    // A refusal sets no watch: the server was too busy, or we may not read the node for now.
    const bool is_refused = watching && looking->answer->error;
    if (!is_refused) pause.reset();
    const auto again_at = is_refused ? pause.next(*session->get_scheduler()) : never;
    looking.reset();  // thousands may wait at once, and for long
    while (!node->lose_if_over() && session->now() < again_at && (watching ? !hint->fired() : !session->connected())) {
      // While nothing changes the session tells us of the end of the lease: a timer each would be many.
      const auto until = watching ? std::min(hold.limited_until(), again_at) : hold.believed_until();
      co_await (watching ? node->changed() : session->changed()).wait(until);
    }
    if (node->lost() == errc::closed) hint->let_go();
    is_deletion_told_ = is_deletion_told_ || hint->deleted();
  }
}

bool node_guard::is_deletion_told() const {
  const auto hint = hint_.lock();
  return is_deletion_told_ || (hint && hint->deleted());
}

/// A node that was removed and made again is not ours.
void node_guard::read(const backend::reply& seen) {
  if (seen.stat.czxid != node_.token()) return node_.lose(errc::node_removed);
  look_for_request(seen.data);
  if (seen.stat.mzxid == content_.written) return;
  content_ = {seen.data, seen.stat.version, seen.stat.mzxid};
  node_.changed_.notify();
}

/// A second request can shorten the grace; to read a request once more does not lengthen it.
void node_guard::look_for_request(const std::string& data) {
  if (!asks_revocation(data)) return;
  const auto grace = grace_of(data);
  const auto present = node_.session()->now();
  if (grace < std::chrono::duration_cast<std::chrono::milliseconds>(never - present)) {
    node_.hold().limit(present + grace);
  }
  if (!std::exchange(is_revoked_, true)) node_.changed_.notify();
}

}  // namespace zkrecipes::detail
