#include "session/server_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include <boost/asio/error.hpp>

#include "session/paths.hpp"

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

namespace {

std::uint16_t parse_port(std::string_view host, std::string_view digits) {
  unsigned value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value == 0 || value > 65535) {
    reject("hosts", host, "the port must be a number from 1 to 65535");
  }
  return static_cast<std::uint16_t>(value);
}

backend::endpoint parse_endpoint(std::string_view text) {
  if (text.empty()) reject("hosts", text, "a host is missing; write host:port[,host:port...][/root]");
  if (has_control(text) || text.find(' ') != text.npos)
    reject("hosts", text, "spaces and control characters are not allowed");
  if (text.find(';') != text.npos) reject("hosts", text, "servers are separated by ','");
  if (text.front() == '.') reject("hosts", text, "the name of a host does not begin with a dot");
  if (text.front() == '[') {
    auto close = text.find(']');
    if (close == text.npos) reject("hosts", text, "']' is missing behind the IPv6 address");
    auto rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') reject("hosts", text, "only ':port' may follow ']'");
    auto address = text.substr(1, close - 1);
    if (address.find(':') == address.npos)
      reject("hosts", text, "only an IPv6 address stands in brackets, as in [::1]:2181");
    return {std::string(address), rest.empty() ? std::uint16_t{2181} : parse_port(text, rest.substr(1))};
  }
  auto colon = text.find(':');
  if (colon == text.npos) return {std::string(text), 2181};
  if (text.find(':', colon + 1) != text.npos)
    reject("hosts", text, "put an IPv6 address in brackets, as in [::1]:2181");
  if (colon == 0) reject("hosts", text, "the host before ':' is missing");
  return {std::string(text.substr(0, colon)), parse_port(text, text.substr(colon + 1))};
}

bool has_port(std::string_view server) {
  const auto digits = server.substr(std::min(server.rfind(':'), server.size() - 1) + 1);
  return !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
}

/// A path may hold commas. But servers behind the root, or the root behind each server, are a mistake that nobody would
/// notice: all would be kept in a place of its own.
void require_root_once(std::string_view servers, std::string_view root) {
  const auto first = root.substr(0, root.find(','));
  std::string all(servers);
  bool is_mistake = false;
  for (auto rest = root.substr(first.size()); !rest.empty();) {
    const auto piece = rest.substr(0, rest.find(',', 1));
    const auto server = piece.substr(0, piece.find('/'));
    is_mistake |= has_port(server) || piece.substr(server.size()) == first;
    all += server;
    rest.remove_prefix(piece.size());
  }
  if (is_mistake)
    reject("hosts", std::string(servers).append(root),
           "the root stands once, behind the last server, as in \"" + all.append(first) + '"');
}

}  // namespace

host_list parse_hosts(std::string_view text) {
  host_list result;
  if (text.find("://") != text.npos) reject("hosts", text, "it is no URL; write host:port[,host:port...][/root]");
  if (auto slash = text.find('/'); slash != text.npos) {
    result.root = text.substr(slash);
    require_root_once(text.substr(0, slash), result.root);
    require_path("root in hosts", result.root);
    if (result.root == "/") result.root.clear();
    text = text.substr(0, slash);
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    auto end = std::min(text.find(',', begin), text.size());
    result.servers.push_back(parse_endpoint(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return result;
}

namespace {

/// A stopped server can hold unread writes for at most this many session timeouts. When it goes on it closes a
/// connection on which nothing came for one timeout, and after more than syncLimit ticks it has lost its leader. A
/// timeout has at least two ticks, so ten timeouts are enough up to a syncLimit of 20.
constexpr int left_out_in_timeouts = 10;

}  // namespace

void server_list::resolved(std::vector<backend::resolved_name> names) {
  for (auto& each : names) {
    if (!each.addresses.empty()) continue;
    const auto before = std::ranges::find(names_, each.name, &backend::resolved_name::name);
    if (before != names_.end()) each.addresses = before->addresses;
  }
  names_ = std::move(names);
  all_.clear();
  for (const auto& each : names_) {
    for (const auto& server : each.addresses) {
      if (!has(server)) all_.push_back(server);
    }
  }
  std::erase_if(silent_, [this](const auto& each) { return !has(each); });
}

bool server_list::has(const backend::endpoint& server) const { return std::ranges::find(all_, server) != all_.end(); }

std::vector<std::string> server_list::names_of(const backend::endpoint& server) const {
  std::vector<std::string> names;
  for (const auto& each : names_) {
    if (std::ranges::find(each.addresses, server) != each.addresses.end()) names.push_back(each.name.address);
  }
  return names;
}

std::vector<backend::endpoint> server_list::in_turn(const std::function<std::uint64_t()>& random,
                                                    time_point present) const {
  auto servers = all_;
  for (std::size_t i = servers.size(); i > 1; --i) std::swap(servers[i - 1], servers[random() % i]);
  for (const auto& each : silent_) {
    std::ranges::stable_partition(servers, [&](const auto& server) { return server != each; });
  }
  for (const auto& each : unread_) {
    std::ranges::stable_partition(servers, [&](const auto& server) { return server != each.server; });
  }
  const auto is_silent = [&](const unread& each) { return each.left_out_until > present; };
  const auto latest = std::find_if(unread_.rbegin(), unread_.rend(), is_silent);
  if (latest == unread_.rend()) return servers;
  auto others = servers;
  std::erase(others, latest->server);
  return others.size() >= 2 ? others : servers;
}

void server_list::ask_late(const backend::endpoint& server) {
  std::erase(silent_, server);
  silent_.push_back(server);
}

void server_list::on_unread(const backend::endpoint& server) {
  forget_unread(server);
  unread_.push_back({server, time_point::min()});
}

void server_list::on_silence(const backend::endpoint& server, time_point present,
                             std::chrono::milliseconds session_timeout) {
  on_unread(server);
  unread_.back().left_out_until = present + left_out_in_timeouts * session_timeout;
}

void server_list::on_read(const backend::endpoint& server) {
  std::erase(silent_, server);
  forget_unread(server);
}

void server_list::forget_unread(const backend::endpoint& server) {
  std::erase_if(unread_, [&](const unread& each) { return each.server == server; });
}

}  // namespace zkrecipes::detail
