#include "barrier/double_barrier.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <zkrecipes/double_barrier.hpp>

#include "line/line_spec.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/together.hpp"
#include "shared/replace.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Whether another look has to tell what came of a write.
bool may_be_overtaken(const error_code& error) {
  return error == errc::bad_version || error == errc::no_node || is_reply_lost(error);
}

/// The first error other than `no_node`. If the path has gone, nobody is there; any other error does not tell who is
/// there.
error_code refusal_among(const std::vector<backend::reply>& replies) {
  for (const auto& each : replies) {
    if (each.error && each.error != errc::no_node) return each.error;
  }
  return {};
}

}  // namespace

attendant::attendant(own_node_ptr node, double_barrier_ptr at, diagnostic why)
    : node_(std::move(node)), at_(std::move(at)), why_(std::move(why)), changed_(at_->session->get_scheduler()) {
  const auto name = node_->name();
  const auto number = parse_sequence(name, round_markers()).value_or(-1);
  self_ = parse_round_member(member{name, number}).value_or(round_member{});
}

awaitable<outcome<attendant_ptr>> attendant::enter(double_barrier_ptr at, lease_clock::time_point deadline,
                                                   diagnostic why) {
  const auto on = at->session->get_scheduler();
  line_spec line{at->path, round_marker(at->size), round_markers(), parent_reading::before_list};
  auto who = std::make_shared<waiter>(at->session, std::move(line), id_data(at->id));
  auto entering = who->enter();
  auto entered = co_await with_deadline(on, deadline, std::move(entering));
  auto& [error] = entered;
  if (error == errc::foreign_data) why.note("another recipe uses the path " + at->path);
  if (error) co_return outcome<attendant_ptr>(error, nullptr);
  leaving place(who->node());
  auto self = std::make_shared<attendant>(who->node(), std::move(at), std::move(why));
  auto waiting = self->wait_opened(std::move(who));
  auto opened = co_await with_deadline(on, deadline, std::move(waiting));
  error = std::get<0>(opened);
  if (error == errc::timed_out) error = co_await self->withdraw();
  self->hints_.clear();
  if (!error) place.keep();
  co_return outcome<attendant_ptr>(error, std::move(self));
}

awaitable<outcome<>> attendant::wait_opened(waiter_ptr who) {
  const forwarding node_changes(node_->changed(), changed_);
  error_code error;
  // The record and the list that were read together with our entry may be all that is needed.
  if (const auto& parent = who->parent(); parent && who->line().is_current()) {
    error = see(parent->data, parent->stat.version, who->line().members());
    // The roster leaves other nodes of ours out of its list: if the record contains our GUID, look again.
    fresh_ = fresh_ && (entered() || !knows_us_);
  }
  who.reset();  // we have a list of our own from here on
  while (!error) {
    if (auto why = node_->lost()) co_return outcome<>(why);
    if (fresh_ && entered()) co_return outcome<>(error_code());
    if (fresh_ && openable_) {
      error = co_await open();
    } else if (fresh_ && watches()) {
      auto why = co_await changed_.wait();
      if (why == wake::cancelled) error = asio::error::operation_aborted;
    } else {
      error = co_await look();
      if (error == errc::connection_loss) error.clear();  // it is the lease that ends it, not a retry limit
    }
  }
  co_return outcome<>(error);
}

/// We have entered if the record names us: by this node, or by an earlier one of ours whose reply was lost and that is
/// still there. If that earlier node has gone, we are out again. The record stays as it is until our node has gone.
error_code attendant::see(const std::string& data, std::int32_t version, std::span<const member> line) {
  auto record = parse_round(data);
  if (!record) {
    why_.note("the data of " + at_->path + " is not of a double barrier");
    return errc::foreign_data;
  }
  const auto seen = at_->view_of(std::move(*record), version, line);
  version_ = version;
  knows_us_ = seen->record.knows(self_.guid);
  ahead_ = ahead_in(*seen);
  own_ = seen->nodes_of(node_->place().guid);
  openable_ = seen->can_open(at_->size) ? seen : nullptr;
  round_ = seen->admits(self_) ? seen : nullptr;
  fresh_ = true;
  const auto first_size = seen->first_size;
  if (std::exchange(size_checked_, true) || first_size == 0 || first_size == at_->size) return {};
  why_.note("we came for a round of " + std::to_string(at_->size) + " members, the first at " + at_->path +
            " for one of " + std::to_string(first_size));
  return errc::size_mismatch;
}

/// Reads the record before the list: a member that the record names and the list does not contain has gone for good.
awaitable<error_code> attendant::look() {
  fresh_ = false;
  std::vector<backend::request> all{make_request(opcode::get, at_->path, true),
                                    make_request(opcode::children, at_->path, false)};
  watch_out(all);
  auto answered = co_await ask(*node_, std::move(all));
  auto& [error, seen] = answered;
  if (error) co_return error;
  const auto& record = seen[0];
  const auto& list = seen[1];
  error = record.error ? record.error : list.error;
  if (error == errc::no_node) error = errc::node_removed;  // the path has gone, and our node with it
  if (!error) error = see(record.data, record.stat.version, members_of(list.children, round_markers()));
  if (error || seen.size() == 2) co_return error;
  if (seen[2].error != errc::no_node) co_return seen[2].error;
  watched_.clear();  // the member ahead has gone: there is nothing to watch
  co_return error_code();
}

/// The path to watch besides the record. The first in line opens the next round, so it watches the list of all members.
/// The others watch the member ahead of them, to know when they become the first.
std::string attendant::ahead_in(const round_view& seen) const {
  const auto position = seen.position(self_.guid);
  if (!position) return {};
  return *position == 0 ? at_->path : join(at_->path, seen.waiting[*position - 1].name);
}

void attendant::watch_out(std::vector<backend::request>& all) {
  auto& session = *node_->session();
  hints_.clear();
  hints_.push_back(session.arm(watch_kind::data, at_->path, changed_));
  watched_ = ahead_;
  if (watched_ == at_->path) {
    hints_.push_back(session.arm(watch_kind::children, at_->path, changed_));
    all[1].watch = true;
  } else if (!watched_.empty()) {
    hints_.push_back(session.arm(watch_kind::data, watched_, changed_));
    all.push_back(make_request(opcode::get, watched_, true));
  }
}

/// Whether watches are set for every change that could matter.
bool attendant::watches() const {
  auto fired = [](const auto& each) { return each->fired(); };
  return !hints_.empty() && watched_ == ahead_ && std::none_of(hints_.begin(), hints_.end(), fired);
}

/// Opens a round by one transaction: the version of the record shows that no other round was opened since the last one
/// was over, and the checks show that all members of the new one are there.
awaitable<error_code> attendant::open() {
  const auto seen = std::exchange(openable_, nullptr);
  if (seen->record.round == last_round) {
    why_.note("the data of " + at_->path + " is that of the last round that there can be");
    co_return errc::foreign_data;
  }
  // Its transaction names all members, so of those of a session one makes it, and the others hear of it.
  const auto turns = path_turns::of(at_->session, at_->path);
  const auto tries = at_->tries;
  const auto turn = co_await turns->enter();
  if (!turn) co_return asio::error::operation_aborted;
  if (tries != at_->tries) {
    fresh_ = at_->opened && at_->opened->record.names(self_);
    if (fresh_) round_ = at_->opened;
    co_return error_code();
  }
  at_->opened = nullptr;
  const auto next = std::make_shared<const round_view>(opened(*seen, at_->size));
  transaction checks;
  for (const auto& who : next->inside) checks.check(join(at_->path, who.name));
  transaction all;
  all.set(at_->path, serialize(next->record), seen->version).append(std::move(checks));
  fresh_ = false;
  std::vector<backend::request> decision{backend::make_multi(all)};
  auto answered = co_await ask(*node_, std::move(decision));
  ++at_->tries;
  auto& [error, decided] = answered;
  if (!error) error = decided.front().error;
  if (error) co_return may_be_overtaken(error) ? error_code() : error;
  at_->opened = next;
  fresh_ = next->record.names(self_);
  if (fresh_) round_ = next;
  co_return error_code();
}

/// To be called when the time is up. Removes our nodes by a transaction that fails if a round was opened since we
/// looked.
awaitable<error_code> attendant::withdraw() {
  const auto session = node_->session();
  fresh_ = fresh_ && !hints_.empty();  // the list from our entry leaves out other nodes of ours
  while (!node_->lost() && session->connected()) {
    error_code error;
    if (!fresh_) error = co_await look();
    if (error) co_return error == asio::error::operation_aborted ? error : make_error_code(errc::timed_out);
    if (entered()) co_return error;
    transaction all;
    all.check(at_->path, version_);
    for (const auto& each : own_) all.remove(join(at_->path, each));
    fresh_ = false;
    auto gone = co_await session->answer(session->send(backend::make_multi(all)));
    if (gone.error == asio::error::operation_aborted) co_return gone.error;
    if (gone.error == errc::bad_version || gone.error == errc::no_node) continue;
    if (gone.error) break;  // our nodes are removed in the background
    node_->disown();
    node_->clear_away(false);
  }
  co_return errc::timed_out;
}

awaitable<outcome<>> attendant::leave() {
  if (auto why = node_->lost()) co_return outcome<>(why);
  const auto session = node_->session();
  auto removing = session->send(make_request(opcode::remove, node_->path(), false));
  node_->disown();
  std::optional<turnstile::pass> turn;
  turn.emplace(co_await at_->lists.enter(session->get_scheduler()));
  exchange_ptr listing;
  if (*turn) listing = session->send(make_request(opcode::children, at_->path, false));
  auto removed = co_await session->answer(removing);
  backend::reply listed;
  if (listing) listed = co_await session->answer(listing);
  node_->clear_away(leaves_node(removed.error) || is_reply_lost(removed.error) || is_cancelled(removed.error));
  if (is_cancelled(removed.error) || removed.error == errc::no_auth) {
    co_return outcome<>(removed.error);
  }
  if (!listing) co_return outcome<>(asio::error::operation_aborted);
  if (listed.error) {
    std::vector<backend::request> again{make_request(opcode::children, at_->path, false)};
    auto answered = co_await perform_together(session, std::move(again), persistence::endless);
    auto& [error, replies] = answered;
    if (error) co_return outcome<>(error);
    listed = std::move(replies.front());
  }
  // If the path has gone, nobody is inside.
  if (listed.error && listed.error != errc::no_node) co_return outcome<>(listed.error);
  auto inside = still_inside(members_of(listed.children, round_markers()), round_);
  listed = {};  // as many may wait as there are names in it
  turn.reset();
  co_return outcome<>(co_await wait_others(std::move(inside)));
}

/// A member that has left can not come back to this round, so the round is over when none of these members is there any
/// more.
awaitable<error_code> attendant::wait_others(members inside) {
  const auto session = node_->session();
  condition changed(session->get_scheduler());
  while (!inside.empty()) {
    const auto path = join(at_->path, next_of(inside).name);
    auto hint = session->arm(watch_kind::data, path, changed);
    std::vector<backend::request> look{make_request(opcode::get, path, true),
                                       make_request(opcode::children, at_->path, false)};
    std::optional<turnstile::pass> turn;
    turn.emplace(co_await at_->lists.enter(session->get_scheduler()));
    if (!*turn) co_return asio::error::operation_aborted;
    auto answered = co_await perform_together(session, std::move(look), persistence::endless);
    auto& [error, replies] = answered;
    if (!error) error = refusal_among(replies);
    if (error == errc::server_error) continue;
    if (error) co_return error;
    inside = still_inside(members_of(replies[1].children, round_markers()), round_);
    const bool has_gone = static_cast<bool>(replies[0].error);
    replies.clear();
    turn.reset();
    if (has_gone) continue;
    while (!hint->fired()) {
      auto why = co_await changed.wait();
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
    if (hint->deleted()) std::erase_if(inside, [&](const auto& each) { return join(at_->path, each->name) == path; });
  }
  co_return error_code();
}

/// The member to watch: the next one behind us in the record, or else the first, so that a departure does not wake all
/// the others.
const round_member& attendant::next_of(const members& inside) const {
  auto index = [this](const std::string& guid) {
    const auto& all = round_->record.members;
    return std::find(all.begin(), all.end(), guid) - all.begin();
  };
  const auto own = index(self_.guid);
  for (const auto& each : inside) {
    if (index(each->guid) > own) return *each;
  }
  return *inside.front();
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

attendance::attendance() noexcept = default;
attendance::attendance(std::shared_ptr<attendant> attendant) noexcept : attendant_(std::move(attendant)) {}
attendance::attendance(attendance&&) noexcept = default;

attendance& attendance::operator=(attendance&& other) noexcept {
  attendance taken(std::move(other));
  std::swap(attendant_, taken.attendant_);  // the attendance that we had leaves here
  return *this;
}

attendance::~attendance() {
  if (attendant_ && !attendant_->where()->lost()) attendant_->where()->leave_later();
}

attendance::executor_type attendance::get_executor() const noexcept {
  return attendant_ ? attendant_->get_scheduler()->base : executor_type();
}

std::int64_t attendance::round() const noexcept { return attendant_ ? attendant_->round() : 0; }
error_code attendance::error() const noexcept {
  return attendant_ ? attendant_->where()->hold().error() : make_error_code(errc::closed);
}

const std::string& attendance::path() const noexcept { return attendant_ ? attendant_->where()->path() : no_path(); }

transaction attendance::fenced(transaction operations) const {
  return transaction().check(path()).append(std::move(operations));
}

void attendance::start_lost(handler_for<void(error_code)> h, attendant_ptr which) {
  launch_endless(std::move(h), std::move(which), &attendant::wait_lost);
}

void attendance::start_leave(handler_for<void(error_code)> h, attendant_ptr which, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(which), &attendant::leave);
}

double_barrier::double_barrier(session over, std::string path, int size, double_barrier_options options)
    : session_(std::move(over)), options_(std::move(options)) {
  require_path("double barrier path", path);
  require_id("double_barrier_options::id", options_.id);
  if (size < 1 || size > max_members) {
    throw std::invalid_argument("double barrier size " + std::to_string(size) + ": it must be 1 to " +
                                std::to_string(max_members));
  }
  state_ = std::make_shared<double_barrier_state>(require_session(session_), std::move(path), size, options_.id);
}

const std::string& double_barrier::path() const noexcept { return state_ ? state_->path : no_path(); }
int double_barrier::size() const noexcept { return state_ ? state_->size : 0; }

namespace {

awaitable<outcome<attendance>> enter(double_barrier_ptr at, lease_clock::time_point deadline, diagnostic why) {
  auto entered = co_await attendant::enter(std::move(at), deadline, std::move(why));
  auto& [error, where] = entered;
  if (error) where = nullptr;
  co_return outcome<attendance>(error, attendance(std::move(where)));
}

}  // namespace

void double_barrier::start_enter(handler_for<void(error_code, attendance)> h, state_ptr at,
                                 lease_clock::duration budget, diagnostic why) {
  const auto on = at->session->get_scheduler();
  launch(*on, std::move(h), enter(std::move(at), on->deadline_of(budget), std::move(why)));
}

}  // namespace zkrecipes
