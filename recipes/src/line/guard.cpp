// Keeping a place: told when it is lost or asked for, and left without a trace.
#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "line/place.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

namespace json = boost::json;

namespace {

constexpr std::chrono::milliseconds first_look_pause{100};
constexpr std::chrono::milliseconds max_look_pause{10'000};

/// The data of a member as an object: what is not JSON is an id.
json::object parse_member(const std::string& data) {
  boost::system::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // ids are what somebody chose to write
  auto value = json::parse(data, error, {}, options);
  if (!error && value.is_object()) return std::move(value.as_object());
  return {{"id", data}};
}

bool flag(const std::string& data, std::string_view name) {
  if (data.empty() || data.front() != '{') return false;
  const auto object = parse_member(data);
  const auto* value = object.if_contains(name);
  return value && value->is_bool() && value->as_bool();
}

}  // namespace

std::string revocable_data(const std::string& id) {
  const json::object object{{"id", id}, {"revocable", true}};
  return json::serialize(object);
}

bool is_revocable(const std::string& data) { return flag(data, "revocable"); }

std::string with_revocation(const std::string& data, std::chrono::milliseconds grace) {
  // The owner may not have heard yet of who asked before: what ends first has to stand there.
  if (asks_revocation(data)) grace = std::min(grace, grace_of(data));
  auto object = parse_member(data);
  object["revoke"] = true;
  if (grace == any_grace) {
    object.erase("grace_ms");
  } else {
    object["grace_ms"] = grace.count();
  }
  return json::serialize(object);
}

bool asks_revocation(const std::string& data) {
  return data == "__REVOKE__" || flag(data, "revoke");  // the first: as Curator's Revoker writes it
}

std::chrono::milliseconds grace_of(const std::string& data) {
  if (data.empty() || data.front() != '{') return any_grace;
  auto object = parse_member(data);
  const auto* grace = object.if_contains("grace_ms");
  return grace && grace->is_int64() && grace->as_int64() >= 0 ? std::chrono::milliseconds(grace->as_int64())
                                                              : any_grace;
}

std::string with_shared(const std::string& data) {
  auto object = parse_member(data);
  object["shared"] = true;
  return json::serialize(object);
}

bool is_shared(const std::string& data) { return flag(data, "shared"); }

std::string member_id(const std::string& data) {
  if (data.empty() || data.front() != '{') return data;
  auto object = parse_member(data);
  const auto* id = object.if_contains("id");
  return id && id->is_string() ? std::string(id->as_string()) : data;
}

/// Runs for as long as the place does. It watches our own node, which an operator can remove, and the clock.
awaitable<void> place::guard(place_ptr self) {
  const auto& session = self->session_;
  back_off pause(first_look_pause, max_look_pause);
  while (!self->lost()) {
    auto hint = session->arm(watch_kind::data, self->path_, self->changed_);
    auto looking = session->send(make_request(backend::opcode::get, self->path_, true));
    // Not `perform`: without a connection the clock has to be watched all the same.
    while (!looking->answer && !self->lost() && !self->bound_->ended) {
      if (session->now() >= self->believed_until()) break;
      co_await looking->done.wait(self->believed_until());
    }
    if (looking->answer && looking->answer->error == errc::no_node) self->lose(errc::node_removed);
    if (looking->answer && !looking->answer->error) self->read_own(std::move(looking->answer->data));
    // What we may not read now we may not read a moment later; a server that was too busy to look is asked again.
    const bool watching = looking->answer && looking->answer->error != errc::connection_loss;
    const bool is_busy = watching && looking->answer->error == errc::server_error;
    const auto again_at = is_busy ? pause.next(*session->get_scheduler()) : never;
    looking.reset();  // thousands may wait at once, and for long
    while (!self->lose_if_over() && session->now() < again_at && (watching ? !hint->fired() : !session->connected())) {
      // While nothing changes the session tells us of the end of the lease: a timer each would be many.
      const auto until = watching ? std::min(self->give_up_at_, again_at) : self->believed_until();
      co_await (watching ? self->changed_ : session->changed()).wait(until);
    }
    if (self->lost() == errc::closed) hint->let_go();
  }
  session->remove_holder(self->holder_);
}

/// Whether it is lost; the end of the session, of its lease, or of a revocation's grace is noticed here.
bool place::lose_if_over() {
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

void place::read_own(std::string data) {
  look_for_request(data);
  if (data == data_) return;
  data_ = std::move(data);
  changed_.notify();
}

/// Who asks again can shorten the grace; to read a request once more does not lengthen it.
void place::look_for_request(const std::string& data) {
  if (!asks_revocation(data)) return;
  const auto grace = grace_of(data);
  const auto present = session_->now();
  if (grace < std::chrono::duration_cast<std::chrono::milliseconds>(never - present)) {
    give_up_at_ = std::min(give_up_at_, present + grace);
  }
  if (!std::exchange(revoked_, true)) changed_.notify();
}

/// When the guard has to look at the clock again.
lease_clock::time_point place::believed_until() const {
  return std::min(session_->valid_until(bound_->number), give_up_at_);
}

error_code place::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

lease_clock::time_point place::valid_until() const {
  return lost() ? lease_clock::time_point{} : session_->valid_until(bound_->number);
}

bool place::note_lost(error_code why) {
  {
    std::lock_guard lock(mutex_);
    if (lost_) return false;
    lost_ = why;
  }
  changed_.notify();
  return true;
}

void place::lose(error_code why) {
  if (note_lost(why)) clear_away(why == errc::lease_lapsed || why == errc::revoked);  // if the session lives after all
}

void place::disown() { note_lost(errc::closed); }

void place::clear_away(bool node_too) {
  if (node_too) session_->remove_surely(path_, bound_);
  if (ghost_) session_->remove_all_surely(line_.parent, guid_, bound_);
}

awaitable<outcome<>> place::wait_lost() {
  for (;;) {
    if (auto why = lost()) co_return outcome<>(why);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> place::wait_revoked() {
  for (;;) {
    if (auto why = lost()) co_return outcome<>(why);
    if (revoked_) co_return outcome<>(errc::revoked);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> place::leave() {
  if (lost()) co_return outcome<>(error_code());
  auto remove = make_request(backend::opcode::remove, path_);
  auto sent = session_->send(std::move(remove));
  lose(errc::closed);
  auto removing = session_->remove_surely(path_, bound_, std::move(sent));
  // An answer may be there already: without a connection it comes at once.
  while (!removing->is_over && removing->answer != errc::connection_loss) {
    const bool is_refused = leaves_node(removing->answer) && removing->answer != errc::server_error;
    if (is_refused) co_return outcome<>(removing->answer);
    auto why = co_await removing->changed.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
  co_return outcome<>(error_code());
}

void place::leave_later() {
  asio::post(session_->strand(), [self = shared_from_this()] {
    struct body {
      static awaitable<void> run(place_ptr which) { co_await which->leave(); }
    };
    launch_detached(self->session_->strand(), body::run(self));
  });
}

}  // namespace zkrecipes::detail
