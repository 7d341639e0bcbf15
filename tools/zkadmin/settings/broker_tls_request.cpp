#include "settings/broker_tls_request.hpp"

#include <stdexcept>
#include <string_view>

#include "backend/tls/tls_context.hpp"
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

}  // namespace zkadmin
