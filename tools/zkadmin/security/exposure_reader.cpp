#include "security/exposure_reader.hpp"

#include <string>
#include <utility>

#include "cluster/admin_object.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

constexpr std::size_t longest_exposure_answer = 256 * 1024;

/// Empty: the word is told or closed.
std::string gap_of_word(const char* word, const word_answer& answer, bool is_told) {
  if (is_told || (answer.trouble.empty() && is_forbidden_word(answer.text))) return {};
  const auto why = answer.trouble.empty() ? "it has not answered, or something else" : answer.trouble;
  return "whether it answers " + std::string(word) + " is not known: " + why;
}

void add_gap(server_exposure& seen, std::string gap) {
  if (!gap.empty()) seen.gaps.push_back(std::move(gap));
}

asio::awaitable<void> ask_admin_server_about(endpoint where, deadline limit, server_exposure& seen) {
  const auto settings = co_await ask_admin_server(where, "/commands/configuration", longest_exposure_answer, limit);
  if (!add_admin_server(seen, where.name, settings)) co_return;
  const auto told = co_await ask_admin_server(where, "/commands/system_properties", longest_exposure_answer, limit);
  const auto why = told.trouble.empty() ? add_properties(seen, told.body) : told.trouble;
  if (!why.empty())
    seen.gaps.push_back("what properties the AdminServer at " + where.name + " shows is not known: " + why);
}

}  // namespace

void add_words(server_exposure& seen, const word_answer& conf, const word_answer& mask) {
  const bool has_settings = conf.trouble.empty() && add_conf(seen, conf.text);
  const bool has_mask = mask.trouble.empty() && is_trace_mask(mask.text);
  add_gap(seen, gap_of_word("conf", conf, has_settings));
  const auto gap = gap_of_word("gtmk", mask, has_mask);
  if (has_mask) {
    seen.all_words = true;
  } else if (has_settings && gap.empty()) {
    seen.all_words = false;
  }
  add_gap(seen, gap);
}

bool add_admin_server(server_exposure& seen, const std::string& where, const admin_answer& settings) {
  if (settings.is_refused) return false;
  auto why = settings.trouble;
  if (why.empty() && admin_object(settings.body, "configuration", why)) {
    seen.admin_server = where;
    seen.is_admin_local = settings.is_local;
    return true;
  }
  seen.gaps.push_back("whether an AdminServer answers at " + where + " is not known: " + why);
  return false;
}

asio::awaitable<server_exposure> ask_about_exposure(endpoint server, std::uint16_t admin_port, tls_context_ptr tls,
                                                    deadline limit) {
  server_exposure seen{server.name};
  const auto conf = co_await ask_word_in_time(server, "conf", longest_exposure_answer, tls, limit);
  const auto mask = co_await ask_word_in_time(server, "gtmk", longest_exposure_answer, tls, limit);
  add_words(seen, conf, mask);
  if (admin_port != 0) co_await ask_admin_server_about(admin_endpoint(server, admin_port), limit, seen);
  co_return seen;
}

}  // namespace zkadmin
