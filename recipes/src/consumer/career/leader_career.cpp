#include <utility>

#include <zkrecipes/consumer/leader_career.hpp>

#include "career/term_state.hpp"
#include "session/core.hpp"

namespace zkrecipes {

using namespace detail;

const char* to_string(term_end reason) noexcept {
  switch (reason) {
    case term_end::resigned: return "resigned";
    case term_end::revoked: return "revoked";
    case term_end::suspended: return "suspended";
    case term_end::lost: return "lost";
    case term_end::stalled: return "stalled";
    case term_end::failed: return "failed";
    case term_end::superseded: return "superseded";
  }
  return "?";
}

term::term(std::shared_ptr<term_state> state) noexcept : state_(std::move(state)) {}
std::int64_t term::epoch() const noexcept { return state_ ? state_->record().epoch : 0; }
std::int64_t term::token() const noexcept { return state_ ? state_->record().leader_token : 0; }
takeover term::how() const noexcept { return state_ ? state_->record().how : takeover::first; }
session term::get_session() const noexcept { return state_ ? session(state_->session()) : session(); }
bool term::ending() const noexcept { return !state_ || state_->ending(); }

std::shared_ptr<void> term::idle() const {
  return state_ ? work_clock::idle(std::shared_ptr<work_clock>(state_, &state_->work())) : nullptr;
}

lease_clock::time_point term::valid_until() const {
  return state_ ? state_->seat()->valid_until() : lease_clock::time_point{};
}

transaction term::fenced(transaction operations) const {
  if (state_) return state_->fenced(std::move(operations));
  return transaction().check(no_path()).append(std::move(operations));
}

void term::start_commit(handler_for<void(error_code)> h, state_ptr state, transaction operations) {
  launch(*state->session()->get_scheduler(), std::move(h), owning(state, &term_state::commit, std::move(operations)));
}

void term::start_ending(handler_for<void(error_code, term_end)> h, state_ptr state) {
  launch(*state->session()->get_scheduler(), std::move(h), owning(state, &term_state::wait_ending),
         persistence::endless);
}

boost::asio::awaitable<void> leader_career::ended(term, term_end) { co_return; }

}  // namespace zkrecipes
