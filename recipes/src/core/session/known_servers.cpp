#include "session/known_servers.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>

namespace zkrecipes::detail {

namespace {

namespace system_errc = boost::system::errc;

bool is_end_of_connection(const error_code& error) {
  return error == errc::connection_loss || error == system_errc::connection_reset ||
         error == system_errc::connection_aborted || error == system_errc::broken_pipe ||
         error == system_errc::protocol_error;  // closed by us
}

}  // namespace

failure_reason reason_of(const error_code& error) noexcept {
  if (error == system_errc::connection_refused) return failure_reason::refused;
  if (error == errc::timed_out) return failure_reason::silent;
  if (error == errc::auth_failed || error == errc::auth_required) return failure_reason::authentication;
  if (error == errc::read_only) return failure_reason::read_only;
  if (error == errc::session_expired) return failure_reason::session_refused;
  if (error.category() == tls_error_category()) return failure_reason::tls;
  if (error == boost::asio::error::host_not_found) return failure_reason::unresolved;
  if (error == errc::no_descriptors) return failure_reason::no_descriptors;
  return is_end_of_connection(error) ? failure_reason::closed : failure_reason::unreachable;
}

const connection_failure& failure_list::record(std::string server, failure_reason reason, const error_code& error,
                                               clock::time_point when) {
  auto which = std::ranges::find(all_, server, &connection_failure::server);
  if (which == all_.end()) {
    connection_failure first;
    first.server = std::move(server);
    which = all_.insert(all_.end(), std::move(first));
  }
  which->reason = reason;
  which->error = error;
  which->when = when;
  ++which->count;
  return *which;
}

void failure_list::forget(std::string_view server) {
  std::erase_if(all_, [&](const connection_failure& each) { return each.server == server; });
}

void failure_list::keep_only(const std::vector<backend::resolved_name>& names,
                             const std::vector<backend::endpoint>& servers) {
  const auto is_present = [&](const connection_failure& each) {
    const auto is_it = [&](const backend::endpoint& server) { return backend::to_string(server) == each.server; };
    const auto is_unresolved_name = [&](const backend::resolved_name& one) {
      return one.addresses.empty() && is_it(one.name);
    };
    return std::ranges::any_of(servers, is_it) || std::ranges::any_of(names, is_unresolved_name);
  };
  std::erase_if(all_, [&](const connection_failure& each) { return !is_present(each); });
}

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
