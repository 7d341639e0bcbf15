#include "shared_gate/gate_entry.hpp"

#include <utility>

#include "gate/sip_hash.hpp"
#include "session/back_off.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view gate_markers[] = {"-gate-"};
constexpr std::string_view first_marker = "first-gate-";
constexpr std::string_view again_marker = "again-gate-";

/// The names in ZooKeeper are made of this hash, so it must never change.
gate_key hash_of(std::string_view key) { return sip_hash<2, 4>(gate_key())(key); }

void append_hex(std::string& to, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) to += "0123456789abcdef"[number >> shift & 0xf];
}

}  // namespace

gate_place::gate_place(const std::string& path, std::int32_t buckets, std::string_view key, arrival how) : how_(how) {
  const auto hash = hash_of(key);
  bucket_ = join(path, std::to_string(hash.low % static_cast<std::uint64_t>(buckets)));
  hash_ = "-";
  append_hex(hash_, hash.high);
  append_hex(hash_, hash.low);
  hash_ += '-';
}

line_spec gate_place::line() const {
  const auto marker = how_ == arrival::first ? first_marker : again_marker;
  // `protected_name` puts the first dash itself.
  return {bucket_, hash_.substr(1).append(marker), gate_markers};
}

bool gate_place::is_of_our_key(const member& each) const { return each.name.find(hash_) != each.name.npos; }

std::optional<std::size_t> gate_place::nearest_ahead(std::span<const member> members, std::size_t self) const {
  for (auto i = self; i-- > 0;) {
    if (is_of_our_key(members[i])) return i;
  }
  return std::nullopt;
}

std::optional<gate_place::cover> gate_place::find_cover(std::span<const member> members, std::size_t self) const {
  if (how_ != arrival::first) return std::nullopt;
  for (std::size_t i = 0; i < self; ++i) {
    if (!is_of_our_key(members[i]) || members[i].name.find(first_marker) == members[i].name.npos) continue;
    if (const auto ahead = nearest_ahead(members, i)) return cover{*ahead, i};
  }
  return std::nullopt;
}

awaitable<outcome<shared_gate_pass>> gate_entry::enter() {
  for (;;) {
    auto who = std::make_shared<waiter>(session_, place_.line(), data_);
    auto entered = co_await who->enter();
    auto& [error] = entered;
    if (error) co_return failed<shared_gate_pass>(error);
    ownership place(who->node());  // leaves again unless it is passed on
    bool again = false;
    error = co_await stand_in_line(*who, again);
    if (again) {
      // The old node can stand for a while yet, so the next one must not be declined in favour of it.
      if (who->node()->place().may_have_ghost) place_.treat_as_redelivered();
      continue;
    }
    if (error) co_return failed<shared_gate_pass>(error);
    const auto ends = get_scheduler()->deadline_of(safety_);
    who->node()->give_up_by(ends);
    co_return outcome<shared_gate_pass>(error, shared_gate_pass(std::move(place), ends));
  }
}

blocker gate_entry::who_first() const {
  return [this](std::span<const member> members, std::size_t self) -> std::optional<stretch> {
    if (const auto found = place_.nearest_ahead(members, self)) return stretch(*found);
    return std::nullopt;
  };
}

/// Waits for the turn, unless another message covers ours. `again`: this place is given up for a new one. That is so
/// where a second node of ours may exist, since others would take the two for one that processes and one that waits.
awaitable<error_code> gate_entry::stand_in_line(waiter& who, bool& again) {
  again = who.node()->place().may_have_ghost;
  if (again) co_return error_code();
  error_code error;
  if (!who.line().is_current()) error = co_await who.list();
  while (!error) {
    const auto by = place_.find_cover(who.line().members(), who.line().self());
    if (!by) break;
    error = co_await try_decline(who, *by, again);
    if (again) co_return error;
  }
  if (error) co_return error;
  const auto first = who_first();
  co_return co_await who.wait(first);
}

/// Errors: `declined`; none if it could not be done, or it is not known whether, and the line was listed again.
/// `again`: our node has gone, and it is not known why, because the reply was lost.
awaitable<error_code> gate_entry::try_decline(waiter& who, const gate_place::cover& by, bool& again) {
  const auto& node = who.node();
  const auto path_of = [&](std::size_t which) { return join(node->line().parent, who.line().members()[which].name); };
  transaction all;
  all.remove(node->path()).check(path_of(by.ahead)).check(path_of(by.waiting));
  auto pause = session_->backoff();
  for (;;) {
    auto leave = backend::make_multi(all);
    auto answer = co_await session_->perform(std::move(leave), retry::once, node->bound(), node->hold().valid_until());
    if (!answer.error) {
      node->disown();
      co_return errc::declined;
    }
    if (answer.throttled) {
      auto error = co_await session_->pause_before_retry(pause, node->bound());
      if (error) co_return error;
      continue;
    }
    if (is_reply_lost(answer.error)) {
      auto error = co_await who.list();
      again = error == errc::node_removed;
      co_return again ? error_code() : error;
    }
    if (answer.error == errc::no_node && backend::failed_at(answer) == 0) co_return errc::node_removed;
    if (answer.error == errc::no_node) co_return co_await who.list();
    co_return answer.error;
  }
}

}  // namespace zkrecipes::detail
