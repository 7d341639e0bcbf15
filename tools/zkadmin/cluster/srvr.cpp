#include "cluster/srvr.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::string_view not_serving_answer = "not currently serving requests";
constexpr std::string_view not_allowed_answer = "is not in the whitelist";

template <class Number, class... Base>
std::optional<Number> number(std::string_view text, Base... base) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<server_role> role_named(std::string_view mode) {
  for (const auto role : {server_role::leader, server_role::follower, server_role::observer, server_role::standalone})
    if (mode == to_string(role)) return role;
  return std::nullopt;
}

std::optional<std::uint64_t> zxid_in(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return number<std::uint64_t>(text.substr(2), 16);
}

// "min/avg/max": whole numbers in old versions, the average a fraction in newer ones.
std::optional<latency_ms> latency_in(std::string_view text) {
  const auto first = text.find('/');
  const auto last = text.rfind('/');
  if (first == last) return std::nullopt;
  const auto min = number<double>(text.substr(0, first));
  const auto avg = number<double>(text.substr(first + 1, last - first - 1));
  const auto max = number<double>(text.substr(last + 1));
  if (!min || !avg || !max || !std::isfinite(*min + *avg + *max)) return std::nullopt;
  return latency_ms{*min, *avg, *max};
}

void read_mode(std::string_view mode, server_status& server) {
  server.role = role_named(mode);
  if (server.role) return;
  if (mode == "read-only") {
    server.role = server_role::not_serving;
    server.error = "read-only mode: it has lost the quorum";
  } else {
    server.error = "it answers with an unknown mode: " + printable(mode.substr(0, shown_of_garbage));
  }
}

void read_line(std::string_view line, server_status& server) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const auto name = line.substr(0, colon);
  const auto value = trimmed(line.substr(colon + 1));
  if (name == "Zookeeper version") {
    server.version = printable(value.substr(0, value.find_first_of("-, ")));
  } else if (name == "Latency min/avg/max") {
    server.latency = latency_in(value);
  } else if (name == "Connections") {
    server.connections = number<std::int64_t>(value);
  } else if (name == "Outstanding") {
    server.outstanding = number<std::int64_t>(value);
  } else if (name == "Zxid") {
    server.zxid = zxid_in(value);
  } else if (name == "Mode") {
    server.reachable = true;
    read_mode(value, server);
  } else if (name == "Node count") {
    server.nodes = number<std::int64_t>(value);
  }
}

void read_lines(std::string_view answer, server_status& server) {
  while (!answer.empty()) {
    const auto end = answer.find('\n');
    read_line(answer.substr(0, end), server);
    if (end == std::string_view::npos) break;
    answer.remove_prefix(end + 1);
  }
}

}  // namespace

server_status parse_srvr(std::string name, std::string_view answer) {
  server_status server;
  server.server = std::move(name);
  if (answer.find(not_serving_answer) != std::string_view::npos) {
    server.reachable = true;
    server.role = server_role::not_serving;
    server.error = "not serving requests: no quorum, or still starting";
  } else if (answer.find(not_allowed_answer) != std::string_view::npos) {
    server.reachable = true;
    server.error = "it does not allow srvr; add to its zoo.cfg: 4lw.commands.whitelist=srvr";
  } else if (answer.size() > longest_answer) {
    server.error = "it is no ZooKeeper server: its answer is too long";
  } else if (answer.empty()) {
    server.error = "it closed the connection without an answer (a port for TLS only?)";
  } else {
    server_status told = server;
    read_lines(answer, told);
    if (told.reachable) return told;
    server.error = "it is no ZooKeeper server: it answered \"" + printable(answer.substr(0, shown_of_garbage)) + "\"";
  }
  return server;
}

}  // namespace zkadmin
