#include "session/server_list.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

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
