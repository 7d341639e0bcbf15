#include "security/exposure_reader.hpp"

#include <optional>
#include <string>
#include <utility>

#include "cluster/admin_client.hpp"
#include "cluster/server_line.hpp"
#include "cluster/session_answers.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

constexpr std::size_t longest_exposure_answer = 256 * 1024;

/// Asks a word, and returns the answer; empty: there was none.
asio::awaitable<std::string> told_by_word(const endpoint& server, const char* word, tls_context_ptr tls,
                                          deadline limit) {
  auto answer = co_await ask_word_in_time(server, word, longest_exposure_answer, std::move(tls), limit);
  co_return answer.trouble.empty() ? answer.text : std::string();
}

asio::awaitable<void> ask_admin_server_about(endpoint where, std::uint16_t client_port, deadline limit,
                                             server_exposure& seen) {
  const auto settings = co_await ask_admin_server(where, "/commands/configuration", longest_exposure_answer, limit);
  if (!settings.trouble.empty() || !doubts_about_admin(settings.body, client_port).empty()) co_return;
  seen.admin_server = where.name;
  const auto told = co_await ask_admin_server(where, "/commands/system_properties", longest_exposure_answer, limit);
  if (told.trouble.empty()) add_properties(seen, told.body);
}

}  // namespace

asio::awaitable<server_exposure> ask_about_exposure(endpoint server, std::uint16_t admin_port, tls_context_ptr tls,
                                                    deadline limit) {
  server_exposure seen{server.name};
  const bool is_secure = tls != nullptr;
  const auto conf = co_await told_by_word(server, "conf", tls, limit);
  const auto told_port = add_conf(seen, conf);
  const auto mask = co_await told_by_word(server, "gtmk", tls, limit);
  if (is_trace_mask(mask)) seen.all_words = true;
  if (told_port) seen.all_words = is_trace_mask(mask);
  // By TLS we know another port than the one that the AdminServer tells.
  const auto client_port = told_port ? told_port : is_secure ? std::nullopt : std::optional(server.port);
  if (admin_port != 0 && client_port)
    co_await ask_admin_server_about(admin_endpoint(server, admin_port), *client_port, limit, seen);
  co_return seen;
}

}  // namespace zkadmin
