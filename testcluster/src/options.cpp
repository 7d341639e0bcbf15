#include "options.hpp"

#include <algorithm>

namespace testcluster::detail {
namespace {

using namespace std::chrono_literals;

void require(bool fine, const char* message) {
  if (!fine) throw std::invalid_argument(std::string("ensemble_options::") + message);
}

bool single_line(const std::string& text) {
  return text.find_first_of("\r\n") == std::string::npos;
}

bool four_letters(const std::string& word) {
  return word.size() == 4 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

void validate(const ensemble_options& options) {
  const auto& o = options;
  require(o.servers >= 1 && o.servers <= 9, "servers must be 1 to 9");
  require(o.tick_time >= 10ms && o.tick_time <= 1h, "tick_time must be 10 ms to 1 h");
  require(o.init_limit >= 1, "init_limit must be at least 1 tick");
  require(o.sync_limit >= 1, "sync_limit must be at least 1 tick");
  require(o.min_session_timeout >= 0ms, "min_session_timeout must not be negative");
  require(o.max_session_timeout >= 0ms, "max_session_timeout must not be negative");
  require(o.min_session_timeout == 0ms || o.max_session_timeout == 0ms ||
              o.min_session_timeout <= o.max_session_timeout,
          "min_session_timeout must not exceed max_session_timeout");
  require(std::all_of(o.four_letter_words.begin(), o.four_letter_words.end(), four_letters),
          "four_letter_words must be words of four small letters, such as ruok");
  require(o.delay >= 0ms && o.delay <= 1min, "delay must be 0 to 60 s");
  require(o.delay == 0ms || o.delay_proxies, "delay needs delay_proxies = true");
  require(std::all_of(o.extra_config.begin(), o.extra_config.end(), single_line),
          "extra_config must hold one line of zoo.cfg per element");
  require(o.base_port >= 1024 && o.base_port <= 65000, "base_port must be 1024 to 65000");
  require(o.start_timeout > 0ms, "start_timeout must be more than zero");
}

}  // namespace testcluster::detail
