#include "settings/broker_request.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "backend/tls/tls_context.hpp"
#include "cluster/broker_log.hpp"
#include "failure.hpp"
#include "settings/private_file.hpp"

namespace zkadmin {
namespace {

/// "--broker-tls-key: /ours.key: ..." of "session_options::tls.key: /ours.key: ...".
std::string about_option(std::string problem) {
  const std::string_view owner = "session_options::tls", name = ": server_name";
  if (!problem.starts_with(owner)) return "--broker-tls: " + problem;
  problem.erase(0, owner.size());
  if (problem.starts_with(name)) return "--broker-tls-server-name: it" + problem.substr(name.size());
  if (problem.starts_with('.')) problem.front() = '-';
  return "--broker-tls" + problem;
}

void require_pair(const broker_tls_request& asked) {
  if (!asked.certificate.empty() && asked.key.empty())
    throw failure(exit_code::usage, "--broker-tls-certificate needs --broker-tls-key, the file with its key");
  if (asked.certificate.empty() && !asked.key.empty())
    throw failure(exit_code::usage, "--broker-tls-key needs --broker-tls-certificate, the file with its certificate");
}

}  // namespace

std::optional<zkrecipes::tls_options> tls_of(const broker_tls_request& asked) {
  if (!asked.is_wanted) return std::nullopt;
  require_pair(asked);
  zkrecipes::tls_options tls;
  tls.authorities = asked.authorities;
  tls.certificate = asked.certificate;
  tls.key = asked.key;
  tls.server_name = asked.server_name;
  try {
    require_private(asked.key, "the key");
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, std::string("--broker-tls-key: ") + error.what());
  }
  try {
    const zkrecipes::backend::tls_context readable(tls);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, about_option(error.what()));
  }
  return tls;
}

namespace {

/// One line; the password may hold colons. The message does not show the text, because it is a secret.
void read_credentials(const std::string& file, broker_place& into) {
  auto text = read_private_file(file, "one line, user:password");
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const auto colon = text.find(':');
  const bool is_one_line = text.find_first_of(std::string("\r\n\0", 3)) == text.npos;
  if (colon == text.npos || colon + 1 == text.size() || !is_one_line)
    throw std::invalid_argument("expected one line user:password in the file, or :password for Redis without a user");
  into.user = text.substr(0, colon);
  into.password = text.substr(colon + 1);
}

}  // namespace

std::optional<broker_place> place_of(const broker_request& asked, std::chrono::milliseconds timeout) {
  if (asked.address.empty()) {
    if (!asked.credentials_file.empty()) throw failure(exit_code::usage, "--broker-credentials needs --broker");
    if (asked.tls.is_wanted) throw failure(exit_code::usage, "--broker-tls needs --broker");
    return std::nullopt;
  }
  broker_place place;
  const auto slash = asked.address.find('/');
  place.hosts = asked.address.substr(0, slash);
  if (slash != asked.address.npos) place.space = asked.address.substr(slash + 1);
  place.limit = timeout / 2;
  // An address that does not answer leaves time for the others, and for its own reason to be told.
  const auto addresses = std::ranges::count(place.hosts, ',') + 1;
  place.share = std::max(place.limit / (addresses + 1), std::chrono::milliseconds(10));
  if (place.hosts.empty()) throw failure(exit_code::usage, "--broker: expected HOST:PORT");
  try {
    if (!asked.credentials_file.empty()) read_credentials(asked.credentials_file, place);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, std::string("--broker-credentials: ") + error.what());
  }
  place.tls = tls_of(asked.tls);
  place.log = std::make_shared<broker_log>();
  return place;
}

}  // namespace zkadmin
