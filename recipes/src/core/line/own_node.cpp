#include "line/own_node.hpp"

#include <algorithm>
#include <utility>

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
