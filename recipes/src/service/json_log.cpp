#include <chrono>
#include <ctime>
#include <ostream>

#include <boost/json.hpp>

#include <zkrecipes/service/json_log.hpp>

#include "format/shown_text.hpp"

namespace zkrecipes::service {
namespace {

std::string now_as_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = milliseconds / 1'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  const auto rest = std::to_string(1'000 + milliseconds % 1'000);
  return std::string(text, length) + "." + rest.substr(1) + "Z";
}

}  // namespace

void json_log::write(log_severity level, std::string_view event, fields more) {
  if (level < least_) return;
  boost::json::object line{{"time", now_as_text()}, {"level", to_string(level)}, {"event", event}};
  for (const auto& [name, text] : more)
    if (!text.empty()) line[name] = detail::coded_text(text, "\n\t");  // a server may say anything
  std::lock_guard lock(mutex_);
  if (lost_ > 0) line["lost_lines"] = lost_;
  to_.clear();  // a line that could not be written, for example to a full disk, is lost; the next one is tried
  to_ << boost::json::serialize(line) << std::endl;
  lost_ = to_ ? 0 : lost_ + 1;
}

log_hook json_log::hook() {
  return [this](const log_event& event) {
    const auto error = event.error ? event.error.message() : std::string();
    write(event.severity, to_string(event.event),
          {{"server", event.server},
           {"operation", event.operation},
           {"path", event.path},
           {"error", error},
           {"detail", event.detail}});
  };
}

}  // namespace zkrecipes::service
