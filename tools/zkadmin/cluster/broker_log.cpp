#include "cluster/broker_log.hpp"

#include <string_view>

#include <zkrecipes/tls_options.hpp>

namespace zkadmin {
namespace {

using zkrecipes::session_event;
using zkrecipes::tls_errc;

struct tls_cure {
  tls_errc cause;
  const char* options;
};

constexpr tls_cure tls_cures[] = {{tls_errc::unknown_authority, "--broker-tls-authorities"},
                                  {tls_errc::wrong_name, "--broker-tls-server-name"},
                                  {tls_errc::certificate_required, "--broker-tls-certificate and --broker-tls-key"},
                                  {tls_errc::own_authority_unknown, "--broker-tls-certificate"},
                                  {tls_errc::own_certificate_expired, "--broker-tls-certificate"},
                                  {tls_errc::own_certificate_revoked, "--broker-tls-certificate"},
                                  {tls_errc::own_certificate_refused, "--broker-tls-certificate"},
                                  {tls_errc::not_tls, "the port in --broker: it is not one for TLS"}};

/// The log has the words of the error of TLS, and not the error. Null: no option helps.
const char* options_against(const std::string& reason) {
  for (const auto& [cause, options] : tls_cures)
    if (reason.ends_with(make_error_code(cause).message())) return options;
  return nullptr;
}

std::string with_cure(const std::string& reason) {
  const auto* options = options_against(reason);
  return options ? reason + " (see " + options + ")" : reason;
}

bool is_of_broker(std::string_view server) { return server.starts_with("redis ") || server.starts_with("rabbitmq "); }

}  // namespace

void broker_log::record(const zkrecipes::log_event& told) {
  if (!is_of_broker(told.server)) return;
  const std::string server(told.server);
  if (told.event == session_event::connected) failures_.erase(server);
  if (told.event != session_event::connect_failed && told.event != session_event::connection_lost) return;
  const auto reason = told.detail.empty() ? told.error.message() : std::string(told.detail);
  auto& known = failures_[server];
  // A broker that refuses us may reset the next connection before its reason can be read.
  if (!options_against(known) || options_against(reason)) known = reason;
}

std::string broker_log::reasons() const {
  std::string all;
  for (const auto& [server, reason] : failures_) all += (all.empty() ? "" : "; ") + server + ": " + with_cure(reason);
  return all;
}

}  // namespace zkadmin
