#include "options.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace testcluster::detail {
namespace {

using namespace std::chrono_literals;

// The keys that testcluster itself sets. With another value a server would not be found, could not be asked whether it
// is ready, or would leave files behind.
constexpr std::string_view set_here[] = {"dataDir",
                                         "peerType",
                                         "clientPort",
                                         "clientPortAddress",
                                         "secureClientPort",
                                         "secureClientPortAddress",
                                         "dynamicConfigFile",
                                         "4lw.commands.whitelist",
                                         "admin.enableServer",
                                         "admin.serverAddress",
                                         "admin.serverPort",
                                         "enforce.auth.enabled",
                                         "enforce.auth.schemes"};

std::string_view key_of(std::string_view line) {
  const auto key = line.substr(0, line.find('='));
  return key.substr(0, key.find_last_not_of(" \t") + 1);
}

bool is_assignment(const std::string& line) {
  const auto fit = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; };
  const auto key = key_of(line);
  return line.find('=') != std::string::npos && line.find_first_of("\r\n") == std::string::npos && !key.empty() &&
         std::all_of(key.begin(), key.end(), fit);
}

bool is_set_here(const std::string& line) {
  const auto key = key_of(line);
  return key.starts_with("server.") || std::find(std::begin(set_here), std::end(set_here), key) != std::end(set_here);
}

/// The mistake in the further lines of zoo.cfg; empty if there is none.
std::string problem_in_lines(const std::vector<std::string>& lines) {
  for (const auto& each : lines) {
    if (!is_assignment(each)) return "expected one line KEY=VALUE of zoo.cfg, found '" + each + "'";
    if (is_set_here(each)) return "testcluster itself sets " + std::string(key_of(each));
  }
  return {};
}

bool four_letters(const std::string& word) {
  return word.size() == 4 && std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

std::optional<option_problem> problem_in(const ensemble_options& o) {
  const std::string lines = problem_in_lines(o.extra_config);
  const bool limits_fit =
      o.min_session_timeout == 0ms || o.max_session_timeout == 0ms || o.min_session_timeout <= o.max_session_timeout;
  const bool words_fit = std::all_of(o.four_letter_words.begin(), o.four_letter_words.end(), four_letters);
  const bool sets_super_digest = std::any_of(o.extra_config.begin(), o.extra_config.end(), [](const auto& line) {
    return key_of(line) == "DigestAuthenticationProvider.superDigest";
  });
  const struct {
    bool is_fine;
    option_problem problem;
  } rules[] = {
      {o.servers >= 1 && o.servers <= 9, {"servers", "must be 1 to 9"}},
      {o.observers >= 0 && o.servers + o.observers <= 9,
       {"observers", "must be 0 or more, and at most 9 together with the servers that vote"}},
      {o.heap_mib == 0 || (o.heap_mib >= 32 && o.heap_mib <= 65536), {"heap_mib", "must be 32 to 65536 MiB"}},
      {o.tick_time >= 10ms && o.tick_time <= 1h, {"tick_time", "must be 10 ms to 1 h"}},
      {o.init_limit >= 1, {"init_limit", "must be at least 1 tick"}},
      {o.sync_limit >= 1, {"sync_limit", "must be at least 1 tick"}},
      {o.min_session_timeout >= 0ms, {"min_session_timeout", "must not be negative"}},
      {o.max_session_timeout >= 0ms, {"max_session_timeout", "must not be negative"}},
      {limits_fit, {"min_session_timeout", "the shortest session timeout must not exceed the longest"}},
      {words_fit, {"four_letter_words", "must be words of four small letters, such as ruok"}},
      {o.delay >= 0ms && o.delay <= 1min, {"delay", "must be 0 to 60 s"}},
      {o.delay == 0ms || o.delay_proxies, {"delay", "needs delay_proxies = true"}},
      {lines.empty(), {"extra_config", lines}},
      {!o.digest_superuser || !sets_super_digest,
       {"extra_config",
        "DigestAuthenticationProvider.superDigest is set by digest_superuser; leave out one of the two"}},
      {o.base_port >= 1024 && o.base_port <= 65000, {"base_port", "must be 1024 to 65000"}},
      {o.start_timeout > 0ms, {"start_timeout", "must be more than zero"}},
  };
  for (const auto& each : rules)
    if (!each.is_fine) return each.problem;
  return std::nullopt;
}

void validate(const ensemble_options& options) {
  if (const auto problem = problem_in(options))
    throw std::invalid_argument("ensemble_options::" + problem->field + ": " + problem->what);
}

}  // namespace testcluster::detail
