// Values of settings and of arguments.
#include "settings/values.hpp"

#include <stdexcept>

#include "base/failure.hpp"
#include "fuzz/target.hpp"
#include "sessions/session_end.hpp"

namespace fuzz::values_target {

using namespace zkadmin;

/// Calls the parser, and checks what it returns or the reason of its refusal.
template <class Parse, class Check>
void attempt(std::string_view input, Parse parse, Check check) try {
  check(parse(input));
} catch (const std::invalid_argument& refused) {
  require(!has_control(refused.what()), "no control character is shown");
}

void require_path(const std::string& path) {
  const bool is_good = path.starts_with('/') && (path == "/" || !path.ends_with('/')) && path.find("//") == path.npos;
  require(is_good, "a path is absolute, without empty parts");
}

void require_endpoint(const endpoint& server) {
  require(!server.host.empty() && !server.name.empty(), "a server has a name");
  require(server.name.ends_with(":" + std::to_string(server.port)), "the name shows the port");
}

void read_sizes(std::string_view input) {
  using namespace std::chrono_literals;
  attempt(input, parse_duration, [](auto time) { require(time >= 100ms && time <= 1h, "a duration in bounds"); });
  attempt(input, parse_age, [](auto time) { require(time >= 100ms && time <= 1000h, "an age in bounds"); });
  attempt(input, parse_count, [](auto n) { require(n >= 0 && n <= 1'000'000'000'000, "a count in bounds"); });
  attempt(input, parse_flag, [](bool) {});
}

void read_session(const std::string& text) try {
  const auto id = parse_session(text);
  require(id != 0 && password_of(id).size() == 16, "a session has a password");
} catch (const failure& refused) {
  require(refused.code() == exit_code::usage, "a refusal is a mistake of the user");
  require(!has_control(refused.what()), "no control character is shown");
}

void read_values(std::string_view input) {
  read_sizes(input);
  attempt(input, parse_path, require_path);
  attempt(input, parse_paths, [](const auto& all) {
    for (const auto& each : all) require_path(each);
  });
  attempt(input, parse_listen, require_endpoint);
  attempt(input, parse_hosts, [](const auto& all) {
    require(!all.empty() && all.size() <= 64, "so many servers");
    for (const auto& each : all) require_endpoint(each);
  });
  attempt(input, parse_recipes, [](const auto& all) {
    for (const auto& each : all) require_path(each.path);
  });
  attempt(input, parse_kind, [](recipe which) { require(which != recipe::none, "a kind is a recipe"); });
  attempt(input, parse_digest, [](const auto& who) {
    require(!who.user.empty() && !who.password.empty() && who.user.find(':') == who.user.npos, "user and password");
  });
  read_session(std::string(input));
}

const target known("values", read_values);

}  // namespace fuzz::values_target
