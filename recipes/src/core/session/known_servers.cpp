#include "session/known_servers.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

known_servers::known_servers(session_life& whose, condition& changed, std::vector<backend::endpoint> names)
    : life_(whose), changed_(changed), names_(std::move(names)) {}

awaitable<void> known_servers::look_up() {
  found_.resize(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (found_[i].is_sought) continue;
    found_[i].last.name = names_[i];
    auto told = [this, self = life_.shared_from_this(), i](std::vector<backend::resolved_name> one) {
      on_addresses(i, std::move(one.front()));
    };
    life_.get_scheduler()->world->resolve({names_[i]}, std::move(told));
    found_[i].is_sought = true;
  }
  const auto enough = life_.now() + life_.options().retry.first_pause;
  while (!life_.closing() && std::ranges::any_of(found_, &sought_name::is_sought)) {
    if (!servers_.empty() && life_.now() >= enough) break;
    co_await changed_.wait(servers_.empty() ? never : enough);
  }
  if (servers_.empty() && !life_.closing()) life_.enter(session_state::connecting, errc::no_servers);
}

void known_servers::on_addresses(std::size_t which, backend::resolved_name answer) {
  found_[which].is_sought = false;
  if (life_.over()) return;  // the log hook is not called any more
  if (answer.addresses.empty()) {
    if (!answer.error) answer.error = errc::no_servers;
    life_.log().name_not_resolved(answer.name, answer.error);
    failures_.record(backend::to_string(answer.name), failure_reason::unresolved, answer.error,
                     life_.get_scheduler()->world->wall_clock());
  }
  found_[which].last = std::move(answer);
  std::vector<backend::resolved_name> all;
  for (const auto& each : found_) all.push_back(each.last);
  servers_.resolved(all);
  failures_.keep_only(all, servers_.all());
  life_.show_failures(failures_.all());
  changed_.notify();
}

void known_servers::on_failure(const backend::endpoint& server, const error_code& error) {
  const auto when = life_.get_scheduler()->world->wall_clock();
  life_.log().connect_failed(failures_.record(backend::to_string(server), reason_of(error), error, when));
  life_.show_failures(failures_.all());
}

void known_servers::on_service(const backend::endpoint& server) {
  servers_.on_read(server);
  failures_.forget(backend::to_string(server));
  life_.show_failures(failures_.all());
}

}  // namespace zkrecipes::detail
