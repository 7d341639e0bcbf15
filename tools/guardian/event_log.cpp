#include "event_log.hpp"

#include <algorithm>

namespace guardian {

namespace {

constexpr std::size_t longest_value = 200;

std::string line_of(std::string_view event, std::initializer_list<event_log::field> fields) {
  std::string line(event);
  for (const auto& each : fields) line.append(" ").append(each.name).append("=").append(printable(each.value));
  return line;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, longest_value));
  std::ranges::replace_if(
      shown, [](char each) { return each < 0x20 || each > 0x7e || each == '"'; }, '?');
  const bool needs_marks = shown.empty() || shown.find_first_of(" =") != shown.npos;
  return needs_marks ? '"' + shown + '"' : shown;
}

void event_log::write(std::string_view event, std::initializer_list<field> fields) { to_(line_of(event, fields)); }

void event_log::write_for(uid_t user, std::string_view event, std::initializer_list<field> fields) {
  auto& of = users_[user];
  if (!take(of)) return;
  auto line = line_of(event, fields) + " uid=" + std::to_string(user);
  if (of.omitted > 0) line += " omitted=" + std::to_string(std::exchange(of.omitted, 0));
  to_(line);
}

bool event_log::take(allowance& of) {
  const auto now = clock::now();
  const auto passed = std::chrono::duration<double>(now - std::exchange(of.since, now)).count();
  of.left = std::min(burst, of.left + passed * rate);
  if (of.left < 1) {
    ++of.omitted;
    return false;
  }
  of.left -= 1;
  return true;
}

}  // namespace guardian
