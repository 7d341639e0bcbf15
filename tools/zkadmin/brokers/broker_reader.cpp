#include "brokers/broker_reader.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/tls_options.hpp>

#include "backend/tls/tls_context.hpp"
#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "settings/values.hpp"

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
  auto found = find_credentials(read_private_file(file, "one line, user:password"));
  if (!found)
    throw std::invalid_argument("expected one line user:password in the file, or :password for Redis without a user");
  into.user = std::move(found->user);
  into.password = std::move(found->password);
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

namespace {

namespace asio = boost::asio;

struct broker_kind {
  const char* source;
  broker_reader read;
  bool (*is_away)(const zkrecipes::error_code&) noexcept;
};

constexpr broker_kind broker_kinds[] = {{"redis_streams", read_redis, is_redis_away},
                                        {"rabbit_queues", read_rabbitmq, is_rabbitmq_away}};

const broker_kind* broker_kind_of(const stream_status& source) {
  for (const auto& each : broker_kinds)
    if (source.source == each.source) return &each;
  return nullptr;
}

/// What came of asking. Beside the time limit nothing may be thrown: it would be waited for.
struct broker_answer {
  broker_status seen{};
  std::string refusal{};  ///< The place is none. Empty: it is one.
};

asio::awaitable<void> ask_within(zkrecipes::session session, const broker_kind& kind, const broker_place& place,
                                 const stream_status& of, broker_answer& into) {
  try {
    const auto error = co_await kind.read(std::move(session), place, of, into.seen);
    into.seen.is_away = error && kind.is_away(error);
    into.seen.trouble = error ? error.message() : "";
  } catch (const std::invalid_argument& refused) {
    into.refusal = refused.what();
  }
}

void add_reasons(const broker_log& log, std::string& trouble) {
  const auto reasons = log.reasons();
  if (!reasons.empty()) trouble += ": " + reasons;
}

}  // namespace

settings with_log_of(const broker_place& place, settings wanted) {
  wanted.log = [log = place.log](const zkrecipes::log_event& told) { log->record(told); };
  return wanted;
}

asio::awaitable<void> ask_broker(zkrecipes::session session, broker_place place, stream_status& of) {
  using namespace asio::experimental::awaitable_operators;
  const auto* kind = broker_kind_of(of);
  if (!kind) co_return;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer limit(executor, place.limit);
  place.log->forget();
  broker_answer answer;
  const auto first = co_await (ask_within(std::move(session), *kind, place, of, answer) || limit.async_wait(as_result));
  if (!answer.refusal.empty()) throw failure(exit_code::usage, "--broker: " + answer.refusal);
  const bool is_late = first.index() == 1;
  if (is_late) answer.seen = {"it has not answered within " + short_duration(place.limit), true, {}};
  if (answer.seen.is_away) add_reasons(*place.log, answer.seen.trouble);
  of.broker = std::move(answer.seen);
}

}  // namespace zkadmin
