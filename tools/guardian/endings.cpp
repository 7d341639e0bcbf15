#include "endings.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "secrets.hpp"

namespace guardian {

namespace {

session_of_the_dead handed_over(held_session from, uid_t user) {
  session_of_the_dead to{std::move(from.session), {}, user};
  for (auto& [key, each] : from.terms) to.terms.push_back(std::move(each.term));
  return to;
}

}  // namespace

/// Sessions in which the process led come first.
void endings::begin(const held_process_ptr& process, std::vector<held_session> sessions) {
  std::ranges::stable_sort(sessions, {}, [](const held_session& each) { return each.terms.empty(); });
  const auto now = zkrecipes::lease_clock::now();
  for (auto& each : sessions) {
    const auto deadline = now + each.session.key.timeout;
    const auto charged = holding_of(each);
    waiting_.push_back({process, handed_over(std::move(each), process->user()), deadline, charged});
  }
  start_some();
}

void endings::start_some() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    if (!each->process->account()->take_ending()) {
      ++each;
      continue;
    }
    auto which = std::move(*each);
    each = waiting_.erase(each);
    start(std::move(which));
  }
}

void endings::start(item which) {
  ++running_;
  const auto session = which.what.session.key.id;
  const auto terms = which.what.terms.size();
  auto done = [this, alive = std::weak_ptr(alive_), process = which.process, charged = which.charged, session,
               terms](const ending& result) {
    if (alive.expired()) return;
    --running_;
    process->account()->return_ending();
    process->account()->give_back(charged);
    tell(*process, session, terms, result);
    start_some();
    told_();
  };
  how_(std::move(which.what), which.deadline, std::move(done));
}

void endings::tell(const held_process& process, std::int64_t session, std::size_t terms, const ending& result) {
  log_.tell_of(process.user(), "session_ended",
               {{"session", zkrecipes::backend::shown_session(session)},
                {"pid", std::to_string(process.who().pid)},
                {"name", process.name()},
                {"terms", std::to_string(terms)},
                {"died", std::to_string(result.died)},
                {"passed_over", std::to_string(result.passed_over)},
                {"closed", result.is_closed ? "yes" : "no"},
                {"error", result.problem.empty() ? "none" : result.problem}});
}

}  // namespace guardian
