#include "session/failure_list.hpp"

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

}  // namespace zkrecipes::detail
