// How a session learns the addresses of its servers.
#include <algorithm>
#include <utility>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Begins to look all names up, each by itself, and waits until that is done; if servers are known, for `first_pause`
/// only, because a slow resolver must cost neither the session nor the first connection.
awaitable<void> core::look_names_up() {
  found_.resize(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (found_[i].is_sought) continue;
    found_[i].last.name = names_[i];
    scheduler_->world->resolve({names_[i]}, [self = shared_from_this(), i](std::vector<backend::resolved_name> one) {
      self->note_name(i, std::move(one.front()));
    });
    found_[i].is_sought = true;
  }
  const auto enough = now() + options_.retry.first_pause;
  while (!closing_ && std::ranges::any_of(found_, &sought_name::is_sought)) {
    if (!servers_.empty() && now() >= enough) break;
    co_await link_changed_.wait(servers_.empty() ? never : enough);
  }
  if (servers_.empty() && !closing_) enter(session_state::connecting, errc::no_servers);
}

void core::note_name(std::size_t which, backend::resolved_name answer) {
  found_[which].is_sought = false;
  if (closing_ || ended_) return;  // the log hook is not called any more
  if (answer.addresses.empty()) {
    if (!answer.error) answer.error = errc::no_servers;
    log_.name_not_resolved(answer.name, answer.error);
    failures_.note(backend::to_string(answer.name), failure_reason::unresolved, answer.error,
                   scheduler_->world->wall_clock());
  }
  found_[which].last = std::move(answer);
  std::vector<backend::resolved_name> all;
  for (const auto& each : found_) all.push_back(each.last);
  servers_.resolved(all);
  failures_.keep_only(all, servers_.all());
  publish_failures();
  link_changed_.notify();
}

}  // namespace zkrecipes::detail
