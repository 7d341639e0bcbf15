#include "semaphore/semaphore.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <zkrecipes/semaphore.hpp>

#include "line/line_spec.hpp"
#include "line/waiter.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view semaphore_kind = "semaphore";
/// The field that was the mark in older versions. It is still written, because they insist on it.
constexpr std::string_view old_mark = "recipe";
constexpr std::size_t size_of_prefix = 3 + 36 + 1;  // "_c_", the GUID, and a dash

bool is_permit_record(const json_object& object) {
  return object.is(semaphore_kind) || (!object.is_marked() && object.text(old_mark) == semaphore_kind);
}

std::optional<std::int32_t> permits_in(const json_object& object, std::string_view name) {
  const auto number = object.integer(name, 1, semaphore::max_permits);
  return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

bool must_wait(std::int64_t ahead, std::int32_t own, std::int32_t size) { return ahead + own > size && own <= size; }

}  // namespace

std::optional<permit_record> parse_permits(const std::string& data) {
  const auto object = json_object::parse(data, encoding::utf8);
  const auto size = object && is_permit_record(*object) ? permits_in(*object, "size") : std::nullopt;
  if (!size) return std::nullopt;
  return permit_record{*size, permits_in(*object, "before").value_or(0), permits_in(*object, "shrunk_from").value_or(0),
                       object->without({old_mark, "size", "before", "shrunk_from"})};
}

std::string serialize(const permit_record& record) {
  auto object = json_object::of_kind(semaphore_kind);
  object.set(old_mark, semaphore_kind).set("size", record.size);
  if (record.before) object.set("before", record.before);
  if (record.shrunk_from) object.set("shrunk_from", record.shrunk_from);
  return object.add(record.unknown_fields).to_text();
}

std::int32_t weight_of(const std::string& name) {
  std::int32_t weight = 0;
  if (name.size() <= size_of_prefix) return 0;
  auto [end, error] = std::from_chars(name.data() + size_of_prefix, name.data() + name.size(), weight);
  const bool whole = error == std::errc() && end != name.data() + name.size() && *end == '-';
  return whole && weight >= 1 && weight <= semaphore::max_permits ? weight : 0;
}

std::vector<bool> who_waits(std::span<const member> members, std::int32_t size) {
  std::vector<bool> waits;
  std::int64_t ahead = 0;
  for (const auto& each : members) {
    const auto own = weight_of(each.name);
    waits.push_back(must_wait(ahead, own, size));
    ahead += own;
  }
  return waits;
}

std::optional<stretch> who_fills(std::span<const member> members, std::size_t self, const permit_record& size) {
  std::int64_t ahead = 0;
  for (std::size_t i = 0; i < self; ++i) ahead += weight_of(members[i].name);
  const auto own = weight_of(members[self].name);
  if (!must_wait(ahead, own, size.size)) return std::nullopt;
  // The member directly ahead waits as well. So it is enough to watch its node, which changes when it is let in or
  // leaves.
  if (ahead > std::max(size.size, size.shrunk_from) && !members[self - 1].lets_pass) return stretch(self - 1);
  return stretch(0, self);
}

namespace {

constexpr std::chrono::milliseconds first_permit_pause{100};
constexpr std::chrono::milliseconds longest_permit_pause{10'000};

}  // namespace

size_follower::size_follower(scheduler_ptr on, std::string path, permit_record known)
    : path_(std::move(path)), now_(std::move(known)), changed_(std::move(on)) {}

blocker size_follower::who_first() {
  return [self = shared_from_this()](std::span<const member> all, std::size_t which) {
    return who_fills(all, which, self->now_);
  };
}

void size_follower::start(own_node_ptr node) {
  const auto strand = node->session()->strand();
  launch_detached(strand, follow(shared_from_this(), std::move(node)));
}

void size_follower::stop() {
  stopped_ = true;
  changed_.notify();
}

/// A read that the server refuses is tried again later. Meanwhile we go by the last known size, unless the server was
/// only too busy.
awaitable<void> size_follower::follow(size_follower_ptr self, own_node_ptr node) {
  const auto& session = node->session();
  const auto& on = session->get_scheduler();
  const forwarding node_changes(node->changed(), self->changed_);
  back_off pause(first_permit_pause, longest_permit_pause);
  while (!self->stopped_ && !node->lost()) {
    self->is_read_ = false;
    self->hint_ = session->arm(watch_kind::data, self->path_, self->changed_);
    auto look = make_request(backend::opcode::get, self->path_, true);
    auto seen = co_await session->perform(std::move(look), retry::always, node->bound());
    if (seen.error == errc::connection_loss) continue;  // nothing is watched yet
    const auto found = seen.error ? std::nullopt : parse_permits(seen.data);
    if (found) self->now_ = *found;
    self->is_read_ = seen.error != errc::server_error;  // with any other answer it will not be known better
    self->changed_.notify();
    if (!seen.error) pause.reset();
    const auto until = seen.error ? pause.next(*on) : never;
    const auto& hint = *self->hint_;
    while (!self->stopped_ && !node->lost() && !hint.fired() && on->now() < until) {
      co_await self->changed_.wait(until);
    }
  }
  self->hint_.reset();
}

using backend::opcode;

namespace {

constexpr std::string_view permit_markers[] = {"-permit-"};

constexpr std::chrono::milliseconds first_announce_pause{100};
constexpr std::chrono::milliseconds max_announce_pause{10'000};

std::int64_t weight_of_all(std::span<const member> members) {
  std::int64_t sum = 0;
  for (const auto& each : members) sum += weight_of(each.name);
  return sum;
}

}  // namespace

permits::permits(core_ptr session, std::string path, std::int32_t size, line_options options)
    : session_(std::move(session)), path_(std::move(path)), size_(size), options_(std::move(options)) {}

line_spec permits::line(std::int32_t weight) const {
  line_spec line{path_, std::to_string(weight) + std::string(permit_markers[0]), permit_markers};
  line.reads_parent = parent_reading::after_list;
  line.lets_pass = &is_shared;
  return line;
}

error_code permits::refuse_path(const diagnostic& why) const {
  why.note("semaphore " + path_ + ": another recipe uses this path");
  return errc::foreign_data;
}

error_code permits::refuse_data(const diagnostic& why) const {
  why.note("semaphore " + path_ + ": the data there is not of a semaphore");
  return errc::foreign_data;
}

/// Our size is compared only until it has matched once. From then on we follow the semaphore through every resize.
error_code permits::judge(const permit_record& found, const diagnostic& why) {
  if (agreed_ || size_ == found.size || size_ == found.before) {
    record_size(found.size);
    return error_code();
  }
  why.note("semaphore " + path_ + ": it has " + std::to_string(found.size) +
           " permits, and was opened here with a size of " + std::to_string(size_));
  return errc::size_mismatch;
}

/// Checks that the size at the path is ours, and writes ours if there is none. `node`: the node there, as last read.
awaitable<outcome<permit_record>> permits::agree(std::optional<backend::reply> node, diagnostic why) {
  for (;;) {
    if (!node) node = co_await session_->perform(make_request(opcode::get, path_), retry::always);
    if (node->error) co_return outcome<permit_record>(node->error, permit_record{});
    if (!node->data.empty()) {
      const auto found = parse_permits(node->data);
      auto error = found ? judge(*found, why) : refuse_data(why);
      co_return outcome<permit_record>(error, found.value_or(permit_record{}));
    }
    auto set = make_request(opcode::set, path_);
    const permit_record first{size_, 0, 0};
    set.data = serialize(first);
    set.version = node->stat.version;
    auto written = co_await session_->perform(std::move(set), retry::always);
    agreed_ = agreed_ || !written.error;
    if (written.error != errc::bad_version) co_return outcome<permit_record>(written.error, first);
    node.reset();  // somebody was quicker, or we have written it and the reply was lost
  }
}

size_follower_ptr permits::follower() const {
  return std::make_shared<size_follower>(session_->get_scheduler(), path_, permit_record{size_});
}

/// Gets in line and learns the size. The size is read behind the list, so that both were true at the same time. With an
/// older size we could be let in wrongly, after a resize to fewer permits and a later departure.
awaitable<outcome<waiter_ptr>> permits::enter(std::int32_t weight, size_follower_ptr size, diagnostic why) {
  auto who = std::make_shared<waiter>(session_, line(weight), id_data(options_.id));
  auto entered = co_await who->enter();
  auto& [error] = entered;
  if (error == errc::foreign_data) error = refuse_path(why);
  if (error) co_return failed<waiter_ptr>(error);
  leaving place(who->node());
  if (!who->line().is_current()) error = co_await who->list();
  if (error == errc::foreign_data) error = refuse_path(why);
  if (!error) {
    std::optional<backend::reply> node;
    if (who->parent()) node = *who->parent();
    auto agreed = co_await agree(std::move(node), why);
    error = std::get<0>(agreed);
    size->update(std::get<1>(agreed));
  }
  if (!error && weight > size->now().size) error = errc::bad_arguments;
  if (!error) place.keep();
  co_return outcome<waiter_ptr>(error, std::move(who));
}

awaitable<outcome<ownership>> permits::acquire(std::int32_t weight, diagnostic why) {
  auto size = follower();
  auto entered = co_await enter(weight, size, why);
  auto& [error, who] = entered;
  if (error) co_return failed<ownership>(error);
  ownership held(who->node());
  if (options_.on_position) who->report_position(options_.on_position);
  error = co_await who->look(size->who_first());
  bool is_seen_waiting = !error && who->line().has_followers();
  if (error == errc::busy) {
    size->start(who->node());
    error = co_await wait_fitting(who, size);
    size->stop();
    if (!error && weight > size->now().size) error = errc::bad_arguments;
    is_seen_waiting = true;
  }
  if (error) co_return failed<ownership>(error);
  if (is_seen_waiting) announce_later(who->node());
  co_return outcome<ownership>(error, std::move(held));
}

/// Waits until we fit into the present size. While the size is being read again, a departure does not let us in.
awaitable<error_code> permits::wait_fitting(waiter_ptr who, size_follower_ptr size) {
  const auto who_first = size->who_first();
  for (;;) {
    auto error = co_await who->wait(who_first, &size->changed());
    if (error || size->is_current()) co_return error;
    error = co_await wait_news(who, size);
    if (error) co_return error;
  }
}

/// Waits until something happens to our node or to the size.
awaitable<error_code> permits::wait_news(waiter_ptr who, size_follower_ptr size) {
  condition told(who->node()->session()->get_scheduler());
  const forwarding line_changes(who->changed(), told);
  const forwarding size_changes(size->changed(), told);
  auto why = co_await told.wait();
  co_return why == wake::cancelled ? make_error_code(asio::error::operation_aborted) : error_code();
}

/// Tells the members behind us that we no longer wait. If the list that came with our node has let us in, this concerns
/// the members that it shows behind us: they came before it was made, and may have seen us behind others that have left
/// since. Members that come later have not.
void permits::announce_later(const own_node_ptr& node) {
  launch_detached(session_->strand(), announce(node, id_data(options_.id)));
}

/// Tries for as long as we hold, because until it succeeds a member behind us may wait although permits are free.
awaitable<void> permits::announce(own_node_ptr node, std::string written) {
  back_off pause(first_announce_pause, max_announce_pause);
  std::optional<std::string> data = std::move(written);
  while (!node->lost()) {
    auto told = co_await let_pass(node->session(), node->path(), std::move(data), node->bound());
    const auto& error = std::get<0>(told);
    if (error != errc::connection_loss && error != errc::server_error) co_return;
    data.reset();
    if (co_await node->session()->pause_before_retry(pause, node->bound())) co_return;
  }
}

awaitable<outcome<permits::picture>> permits::look() {
  std::vector<backend::request> both{make_request(opcode::children, path_), make_request(opcode::get, path_)};
  auto seen = co_await session_->perform_all(std::move(both));
  picture found;
  error_code error;
  for (const auto& each : seen) {
    if (each.error && each.error != errc::no_node) error = each.error;
  }
  found.members = members_of(seen[0].children, permit_markers);
  found.is_strange = !strangers_among(seen[0].children, permit_markers).empty();
  if (!seen[1].error) found.node = std::move(seen[1]);
  co_return outcome<picture>(error, std::move(found));
}

awaitable<outcome<ownership>> permits::try_acquire(std::int32_t weight, diagnostic why) {
  auto looked = co_await look();
  auto& [error, seen] = looked;
  auto size = follower();
  if (!error && seen.is_strange) error = refuse_path(why);
  if (!error && seen.node) {
    auto agreed = co_await agree(std::move(seen.node), why);
    error = std::get<0>(agreed);
    size->update(std::get<1>(agreed));
  }
  if (!error && weight > size->now().size) error = errc::bad_arguments;
  if (!error && weight_of_all(seen.members) + weight > size->now().size) error = errc::busy;
  if (error) co_return failed<ownership>(error);
  auto entered = co_await enter(weight, size, why);
  error = std::get<0>(entered);
  if (error) co_return failed<ownership>(error);
  const auto& who = std::get<1>(entered);
  ownership held(who->node());  // leaves again unless it is passed on
  error = co_await who->look(size->who_first());
  if (error) co_return failed<ownership>(error);  // somebody was quicker
  if (who->line().has_followers()) announce_later(who->node());
  co_return outcome<ownership>(error, std::move(held));
}

awaitable<outcome<semaphore_state>> permits::state(diagnostic why) {
  auto looked = co_await look();
  auto& [error, seen] = looked;
  semaphore_state now;
  if (error || !seen.node || seen.node->data.empty()) co_return outcome<semaphore_state>(error, now);
  const auto found = parse_permits(seen.node->data);
  if (!found) co_return failed<semaphore_state>(refuse_data(why));
  now.size = found->size;
  const auto waits = who_waits(seen.members, found->size);
  for (std::size_t i = 0; i < seen.members.size(); ++i) {
    if (waits[i]) {
      ++now.waiting;
    } else {
      ++now.holders;
      now.taken += weight_of(seen.members[i].name);
    }
  }
  co_return outcome<semaphore_state>(error_code(), now);
}

awaitable<outcome<std::vector<line_member>>> permits::members(diagnostic why) {
  auto known = co_await state(std::move(why));
  if (std::get<0>(known)) co_return failed<std::vector<line_member>>(std::get<0>(known));
  const permit_record size{std::get<1>(known).size, 0, 0};
  const blocker who_first = [size](std::span<const member> all, std::size_t self) {
    return who_fills(all, self, size);
  };
  co_return co_await read_line(session_, line(1), who_first);
}

// Changing the size of a semaphore.

awaitable<outcome<>> permits::resize(std::int32_t size, diagnostic why) {
  for (;;) {
    auto node = co_await session_->perform(make_request(opcode::get, path_), retry::always);
    if (node.error == errc::no_node) {
      auto error = co_await session_->ensure_path(path_);
      if (error && error != errc::connection_loss) co_return outcome<>(error);
      continue;
    }
    if (node.error) co_return outcome<>(node.error);
    permit_record next{size, size == size_ ? 0 : size_, 0};
    if (!node.data.empty()) {
      const auto found = parse_permits(node.data);
      if (!found) co_return failed<>(refuse_data(why));
      if (found->size == size) {
        record_size(size);
        co_return co_await settle_shrink(*found, node.stat.version);
      }
      next.before = found->size;
      next.unknown_fields = found->unknown_fields;
      next.shrunk_from = size < found->size || found->shrunk_from ? std::max(found->size, found->shrunk_from) : 0;
    }
    auto set = make_request(opcode::set, path_);
    set.data = serialize(next);
    set.version = node.stat.version;
    auto written = co_await session_->perform(std::move(set), retry::once);
    if (written.error == errc::connection_loss) continue;  // a second look tells whether it happened
    if (written.error) co_return outcome<>(written.error);
    record_size(size);
    co_return co_await settle_shrink(next, written.stat.version);
  }
}

/// Marks all holders after a shrink, and then clears `shrunk_from`. From then on a waiter behind many members need not
/// watch all of them. Until then it does, so nothing is lost if we fail here.
awaitable<outcome<>> permits::settle_shrink(permit_record now, std::int32_t version) {
  if (!now.shrunk_from) co_return outcome<>(error_code());
  auto error = co_await mark_holders(now.shrunk_from);
  if (error) co_return outcome<>(error);
  now.shrunk_from = 0;
  auto set = make_request(opcode::set, path_);
  set.data = serialize(now);
  set.version = version;
  auto written = co_await session_->perform(std::move(set), retry::always);
  // `bad_version`: somebody has resized the semaphore again, and marks the holders; or our reply was lost.
  co_return outcome<>(written.error == errc::bad_version ? error_code() : written.error);
}

/// After a shrink a holder can look like a waiter to the members behind it, unless its node is marked.
awaitable<error_code> permits::mark_holders(std::int32_t size) {
  auto looked = co_await look();
  auto& [error, seen] = looked;
  const auto waits = who_waits(seen.members, size);
  for (std::size_t i = 0; i < seen.members.size() && !error; ++i) {
    if (waits[i]) continue;
    auto node = join(path_, seen.members[i].name);
    auto marked = co_await let_pass(session_, std::move(node), std::nullopt);
    error = std::get<0>(marked);
    if (error == errc::no_node) error.clear();  // it has gone
  }
  co_return error;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

semaphore::semaphore(session over, std::string path, std::int32_t size, line_options options)
    : session_(std::move(over)) {
  require_path("semaphore path", path);
  require_id("line_options::id", options.id);
  permits_ = std::make_shared<permits>(require_session(session_), std::move(path), checked(size), std::move(options));
}

std::int32_t semaphore::checked(std::int32_t permits) {
  if (permits >= 1 && permits <= max_permits) return permits;
  throw std::invalid_argument("semaphore: " + std::to_string(permits) + " permits: it must be 1 to " +
                              std::to_string(max_permits));
}

const std::string& semaphore::path() const noexcept { return permits_ ? permits_->path() : no_path(); }

const line_options& semaphore::options() const noexcept {
  static const line_options defaults;
  return permits_ ? permits_->options() : defaults;
}

void semaphore::start_acquire(owner_handler h, permits_ptr from, std::int32_t weight, lease_clock::duration budget,
                              diagnostic why) {
  launch_within(budget, std::move(h), std::move(from), &permits::acquire, weight, std::move(why));
}

void semaphore::start_try_acquire(owner_handler h, permits_ptr from, std::int32_t weight, diagnostic why) {
  launch(std::move(h), std::move(from), &permits::try_acquire, weight, std::move(why));
}

void semaphore::start_resize(handler_for<void(error_code)> h, permits_ptr from, std::int32_t size, diagnostic why) {
  launch(std::move(h), std::move(from), &permits::resize, size, std::move(why));
}

void semaphore::start_state(handler_for<void(error_code, semaphore_state)> h, permits_ptr from, diagnostic why) {
  launch(std::move(h), std::move(from), &permits::state, std::move(why));
}

void semaphore::start_members(handler_for<void(error_code, std::vector<line_member>)> h, permits_ptr from,
                              diagnostic why) {
  launch(std::move(h), std::move(from), &permits::members, std::move(why));
}

}  // namespace zkrecipes
