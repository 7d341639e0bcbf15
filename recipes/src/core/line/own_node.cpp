#include "line/own_node.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "line/leaving.hpp"
#include "line/member_data.hpp"
#include "line/roll_call.hpp"
#include "session/back_off.hpp"

namespace zkrecipes::detail {

using backend::opcode;

own_node::own_node(core_ptr session, line_spec line, std::string data)
    : session_(std::move(session)),
      line_(std::move(line)),
      data_(std::move(data)),
      changed_(session_->get_scheduler()) {}

awaitable<outcome<line_reading>> own_node::create() {
  guid_ = session_->make_own_guid(weak_from_this());
  line_reading seen;
  error_code error;
  try {
    error = co_await try_create(seen);
    if (!error) watch_over();
  } catch (...) {  // no memory
    if (bound_) session_->remove_all_surely(line_.parent, guid_, bound_);
    throw;
  }
  if (error && ghost_) session_->remove_all_surely(line_.parent, guid_, bound_);
  if (error) co_return failed<line_reading>(error);
  co_return outcome<line_reading>(error, std::move(seen));
}

void own_node::watch_over() {
  holder_ = session_->add_holder(changed_);
  try {
    launch_detached(session_->strand(), guard(shared_from_this()));
  } catch (...) {
    session_->remove_holder(holder_);
    throw;
  }
}

awaitable<error_code> own_node::try_create(line_reading& seen) {
  auto pass = co_await session_->entrance().enter(session_->get_scheduler());
  if (!pass) co_return asio::error::operation_aborted;
  auto pause = session_->patience();
  for (;;) {
    auto error = co_await session_->wait_connected(bound_, never);
    if (error) co_return error;
    if (!bound_) bound_ = session_->current();
    // The list is executed right behind the create, so both cost one round trip.
    auto node = make_request(opcode::create, join(line_.parent, protected_name(guid_, line_.marker)));
    node.data = data_;
    node.mode = create_mode::ephemeral_sequential;
    auto creating = session_->send(std::move(node));
    auto listing = roll_call::of(session_, line_);
    auto created = co_await session_->answer(creating);
    auto listed = co_await listing->wait();
    if (!created.error) {
      accept(std::move(created.path), created.stat);
      if (listed) seen = line_reading{std::move(listed), listing->parent()};
      co_return check_path(listing->strangers());
    }
    if (created.error == errc::no_node) {
      error = co_await session_->ensure_path(line_.parent, bound_);
      if (error) co_return error;
    } else if (created.error == errc::connection_loss) {
      ghost_ = true;
      error = co_await find(seen);
      if (error || !path_.empty()) co_return error;
    } else if (created.throttled) {
      error = co_await session_->outwait(pause, bound_);
      if (error) co_return error;
    } else {
      ghost_ = ghost_ || created.error == asio::error::operation_aborted || created.error == errc::server_error;
      co_return created.error;
    }
  }
}

/// After a lost reply: our node, if it was created after all, is the one with our GUID that belongs to our session.
awaitable<error_code> own_node::find(line_reading& seen) {
  auto children = make_request(opcode::children, line_.parent);
  auto listed = co_await session_->perform(std::move(children), retry::always, bound_);
  if (listed.error == errc::no_node) co_return error_code();
  if (listed.error) co_return listed.error;
  auto members = members_of(listed.children, line_.accepted);
  for (const auto& each : members) {
    if (each.name.find(guid_) == each.name.npos) continue;
    auto exists = make_request(opcode::exists, join(line_.parent, each.name));
    auto found = co_await session_->perform(exists, retry::always, bound_);
    if (found.error && found.error != errc::no_node) co_return found.error;
    if (found.error || found.stat.ephemeral_owner != bound_->key.id) continue;
    accept(exists.path, found.stat);
    seen.members = std::make_shared<const std::vector<member>>(std::move(members));
    co_return check_path(strangers_among(listed.children, line_.accepted));
  }
  co_return error_code();
}

void own_node::accept(std::string path, const node_stat& s) {
  path_ = std::move(path);
  token_ = written_ = s.czxid;
  sequence_ = parse_sequence(name_of(path_), line_.accepted).value_or(-1);
}

error_code own_node::check_path(const std::vector<std::int32_t>& strangers) {
  const bool is_used = std::ranges::any_of(strangers, [&](std::int32_t each) { return before(each, sequence_); });
  if (!is_used && !is_exhausted(sequence_)) return error_code();
  session_->remove_surely(path_, bound_);
  return is_used ? errc::foreign_data : errc::sequence_exhausted;
}

/// Waits until `told` is notified, or until then, while the node is ours. The clock is watched here, too.
awaitable<error_code> own_node::wait_held(condition& told, lease_clock::time_point until) {
  auto why = co_await told.wait(std::min(until, believed_until()));
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  lose_if_over();
  co_return lost();
}

awaitable<outcome<std::vector<backend::reply>>> own_node::ask(std::vector<backend::request> all) {
  auto pause = session_->patience();
  for (;;) {
    auto answered = co_await ask_once(all);
    auto& [error, answers] = answered;
    if (error || std::ranges::none_of(answers, &backend::reply::throttled)) co_return answered;
    for (const auto until = pause.next(*session_->get_scheduler()); !error && session_->now() < until;) {
      error = co_await wait_held(changed_, until);
    }
    if (error) co_return answered;
  }
}

awaitable<outcome<std::vector<backend::reply>>> own_node::ask_once(const std::vector<backend::request>& all) {
  using result_type = outcome<std::vector<backend::reply>>;
  auto error = lost();
  while (!error && !session_->connected()) error = co_await wait_held(session_->changed());
  if (error) co_return result_type(error, {});
  std::vector<exchange_ptr> sent;
  for (const auto& each : all) sent.push_back(session_->send(each));
  std::vector<backend::reply> answers;
  bool is_broken = false;
  for (const auto& each : sent) {
    while (!error && !each->answer) error = co_await wait_held(each->done);
    if (error) co_return result_type(error, {});
    is_broken = is_broken || each->answer->error == errc::connection_loss;
    answers.push_back(std::move(*each->answer));
  }
  if (is_broken) {
    error = errc::connection_loss;
    co_await session_->before_retry();
  }
  co_return result_type(error, std::move(answers));
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
    if (revoked_) co_return outcome<>(errc::revoked);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

}  // namespace zkrecipes::detail

// The guard of our node: it notices when the node is lost or asked for. The end of the node: nothing of ours stays.
namespace zkrecipes::detail {

namespace {

constexpr std::chrono::milliseconds first_look_pause{100};
constexpr std::chrono::milliseconds max_look_pause{10'000};

}  // namespace

/// Runs for as long as the node is ours.
awaitable<void> own_node::guard(own_node_ptr self) {
  const auto begin = [&self] { return self->watch_node(); };
  co_await outlast(self->session_->get_scheduler(), begin);
  self->session_->remove_holder(self->holder_);
}

/// Watches the node, which an operator can remove, and the clock.
awaitable<void> own_node::watch_node() {
  const auto self = shared_from_this();
  const auto& session = session_;
  back_off pause(first_look_pause, max_look_pause);
  while (!self->lost()) {
    const std::shared_ptr<watch> hint = session->arm(watch_kind::data, self->path_, self->changed_);
    self->hint_ = hint;
    auto looking = session->send(make_request(backend::opcode::get, self->path_, true));
    // Not `perform`: without a connection the clock has to be watched all the same.
    while (!looking->answer && !self->lost() && !self->bound_->ended) {
      if (session->now() >= self->believed_until()) break;
      co_await looking->done.wait(self->believed_until());
    }
    if (looking->answer && looking->answer->error == errc::no_node) self->lose(errc::node_removed);
    if (looking->answer && !looking->answer->error) self->read_own(*looking->answer);
    const bool watching = looking->answer && looking->answer->error != errc::connection_loss;
    // A refusal sets no watch: the server was too busy, or we may not read the node for now.
    const bool is_refused = watching && looking->answer->error;
    if (!is_refused) pause.reset();
    const auto again_at = is_refused ? pause.next(*session->get_scheduler()) : never;
    looking.reset();  // thousands may wait at once, and for long
    while (!self->lose_if_over() && session->now() < again_at && (watching ? !hint->fired() : !session->connected())) {
      // While nothing changes the session tells us of the end of the lease: a timer each would be many.
      const auto until = watching ? std::min(self->give_up_at_, again_at) : self->believed_until();
      co_await (watching ? self->changed_ : session->changed()).wait(until);
    }
    if (self->lost() == errc::closed) hint->let_go();
    self->is_deletion_told_ = self->is_deletion_told_ || hint->deleted();
  }
}

/// Whether it is lost; the end of the session, of its lease, or of a revocation's grace is noticed here.
bool own_node::lose_if_over() {
  if (lost()) return true;
  if (bound_->ended) {
    lose(bound_->ended);
  } else if (session_->now() >= session_->valid_until(bound_->number)) {
    lose(errc::lease_lapsed);
  } else if (session_->now() >= give_up_at_) {
    lose(errc::revoked);
  }
  return static_cast<bool>(lost());
}

/// A node that was removed and made again is not ours.
void own_node::read_own(const backend::reply& node) {
  if (node.stat.czxid != token_) return lose(errc::node_removed);
  look_for_request(node.data);
  if (node.stat.mzxid == written_) return;
  data_ = node.data;
  version_ = node.stat.version;
  written_ = node.stat.mzxid;
  changed_.notify();
}

/// A second request can shorten the grace; to read a request once more does not lengthen it.
void own_node::look_for_request(const std::string& data) {
  if (!asks_revocation(data)) return;
  const auto grace = grace_of(data);
  const auto present = session_->now();
  if (grace < std::chrono::duration_cast<std::chrono::milliseconds>(never - present)) record_end(present + grace);
  if (!std::exchange(revoked_, true)) changed_.notify();
}

void own_node::record_end(lease_clock::time_point when) {
  std::lock_guard lock(mutex_);
  give_up_at_ = std::min(give_up_at_, when);
}

void own_node::give_up_by(lease_clock::time_point when) {
  record_end(when);
  changed_.notify();  // the guard waits until the former time
}

/// When the guard has to look at the clock again.
lease_clock::time_point own_node::believed_until() const {
  return std::min(session_->valid_until(bound_->number), give_up_at_);
}

awaitable<error_code> own_node::confirm() {
  if (!lose_if_over() && is_deletion_told()) co_return std::get<error_code>(co_await wait_lost());
  co_return lost();
}

bool own_node::is_deletion_told() const {
  const auto hint = hint_.lock();
  return is_deletion_told_ || (hint && hint->deleted());
}

error_code own_node::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

lease_clock::time_point own_node::valid_until() const {
  return lost() ? lease_clock::time_point{} : session_->valid_until(bound_->number);
}

error_code own_node::error() const {
  const auto doubt = session_->invalid(bound_->number);
  std::lock_guard lock(mutex_);
  if (lost_ || doubt) return lost_ ? lost_ : doubt;
  return session_->now() < give_up_at_ ? error_code() : errc::revoked;
}

bool own_node::note_lost(error_code why) {
  {
    std::lock_guard lock(mutex_);
    if (lost_) return false;
    lost_ = why;
  }
  changed_.notify();
  return true;
}

void own_node::lose(error_code why) {
  if (note_lost(why)) clear_away(why == errc::lease_lapsed || why == errc::revoked);  // if the session lives after all
}

void own_node::disown() { note_lost(errc::closed); }

void own_node::clear_away(bool node_too) {
  try {
    if (node_too) session_->remove_surely(path_, bound_);
    if (ghost_) session_->remove_all_surely(line_.parent, guid_, bound_);
  } catch (...) {  // as in `leave_later`
    std::terminate();
  }
}

awaitable<outcome<>> own_node::leave() {
  if (lost()) co_return outcome<>(error_code());
  leaving another_try(shared_from_this());
  auto path = path_;
  auto remove = make_request(backend::opcode::remove, path);
  auto sent = session_->send(std::move(remove));
  another_try.keep();
  lose(errc::closed);
  auto removing = session_->remove_surely(std::move(path), bound_, std::move(sent));
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
      struct body {
        static awaitable<void> run(own_node_ptr which) { co_await which->leave(); }
      };
      launch_detached(self->session_->strand(), body::run(self));
    });
  } catch (...) {
    std::terminate();
  }
}

}  // namespace zkrecipes::detail
