// The guard of our node: it notices when the node is lost or asked for. The end of the node: nothing of ours stays.
#include <algorithm>
#include <exception>
#include <utility>

#include "line/leaving.hpp"
#include "line/member_data.hpp"
#include "line/own_node.hpp"
#include "session/back_off.hpp"

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
