#include "broker/broker_settings.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "session/paths.hpp"
#include "session/server_list.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

/// Adds the port where none is given.
std::string with_ports(const std::string& hosts, std::uint16_t port) {
  std::string all;
  for (std::size_t begin = 0; begin <= hosts.size();) {
    const auto end = std::min(hosts.find(',', begin), hosts.size());
    const auto one = hosts.substr(begin, end - begin);
    const auto from = one.find(']') == one.npos ? 0 : one.find(']');
    all += one;
    if (!one.empty() && one.find(':', from) == one.npos) all += ':' + std::to_string(port);
    if (end < hosts.size()) all += ',';
    begin = end + 1;
  }
  return all;
}

}  // namespace

void broker_settings::refuse(const std::string& field, const std::string& why) const {
  throw std::invalid_argument(owner_ + "::" + field + ": " + why);
}

void broker_settings::require(bool is_good, const std::string& field, const std::string& why) const {
  if (!is_good) refuse(field, why);
}

void broker_settings::require_login(const std::string& user, const std::string& password) const {
  require(!has_nul(user), "user", "it must not contain a NUL byte");
  require(!has_nul(password), "password", "it must not contain a NUL byte");
  require(user.empty() || !password.empty(), "password", "a user needs one");
}

void broker_settings::require_times(std::chrono::milliseconds timeout, const retry_policy& retry) const {
  require(timeout >= 10ms && timeout <= 1h, "timeout", "it must be 10 ms to 1 h");
  require(retry.first_pause >= 1ms && retry.first_pause <= 1h, "retry.first_pause", "it must be 1 ms to 1 h");
  const bool is_pause = retry.max_pause >= retry.first_pause && retry.max_pause <= 1h;
  require(is_pause, "retry.max_pause", "it must be first_pause to 1 h");
}

std::vector<backend::endpoint> broker_settings::parse_brokers(const std::string& hosts, std::uint16_t port) const {
  require(hosts.find('/') == hosts.npos, "hosts", "write host:port[,host:port...]; a broker has no root");
  try {
    return parse_hosts(with_ports(hosts, port)).servers;
  } catch (const std::invalid_argument& problem) {
    refuse("hosts", problem.what());
  }
}

/// The messages of `tls_context` name a field of `session_options`.
std::shared_ptr<backend::tls_context> broker_settings::load_certificates(const std::optional<tls_options>& tls) const {
  if (!tls) return nullptr;
  try {
    return std::make_shared<backend::tls_context>(*tls);
  } catch (const std::invalid_argument& problem) {
    std::string text = problem.what();
    const std::string_view owner = "session_options::";
    if (text.starts_with(owner)) text.replace(0, owner.size(), owner_ + "::");
    throw std::invalid_argument(text);
  }
}

}  // namespace zkrecipes::detail
