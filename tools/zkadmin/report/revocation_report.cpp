#include "report/revocation_report.hpp"

#include <algorithm>

#include "report/json_values.hpp"
#include "report/progress_line.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

constexpr std::size_t most_listed = 3;

const char* event_of(const holder_progress& holder) {
  if (holder.gone_after) return "gone";
  return holder.was_sent ? "asked" : "not asked";
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i) append_to_list(text, printable(names[i]));
  if (names.size() > most_listed) text += " and " + std::to_string(names.size() - most_listed) + " more";
  return text;
}

std::string holding_text(const std::vector<std::string>& names, const std::string& what) {
  if (names.empty()) return "nobody holds " + what;
  return list_of(names) + (names.size() == 1 ? " holds " : " hold ") + what;
}

std::vector<std::string> names_of(const revocation_progress& progress, bool gone) {
  std::vector<std::string> names;
  for (const auto& each : progress.holders)
    if (each.gone_after.has_value() == gone) names.push_back(each.who);
  return names;
}

std::chrono::milliseconds last_end(const revocation_progress& progress) {
  std::chrono::milliseconds last{0};
  for (const auto& each : progress.holders) last = std::max(last, each.gone_after.value_or(last));
  return last;
}

json::array array_of(const std::vector<std::string>& names) {
  json::array all;
  for (const auto& each : names) all.push_back(json::value(or_null(each)));
  return all;
}

}  // namespace

std::string to_line(const holder_progress& holder) {
  const auto at = holder.gone_after.value_or(std::chrono::milliseconds(0));
  return progress_line(at, event_of(holder), printable(holder.who));
}

std::string to_ndjson(const holder_progress& holder) {
  json::object object;
  object["event"] = holder.gone_after ? "gone" : "asked";
  object["holder"] = or_null(holder.who);
  object["node"] = or_null(holder.node);
  object["sent"] = holder.was_sent;
  object["at_ms"] = holder.gone_after.value_or(std::chrono::milliseconds(0)).count();
  return json_line(object);
}

std::string result_line(const revocation_progress& progress) {
  auto text = holding_text(names_of(progress, true), printable(progress.path)) + " no more, " +
              short_duration(last_end(progress)) + " after the request";
  if (progress.is_present_known) text += "; " + holding_text(progress.present, "it");
  return text + "\n";
}

std::string to_ndjson(const revocation_progress& progress, const std::string& problem) {
  json::object object;
  object["event"] = "end";
  object["done"] = progress.is_done();
  object["gone"] = array_of(names_of(progress, true));
  object["still_there"] = array_of(names_of(progress, false));
  object["holders"] = progress.is_present_known ? json::value(array_of(progress.present)) : json::value(nullptr);
  object["after_ms"] = last_end(progress).count();
  object["problem"] = or_null(problem);
  return json_line(object);
}

std::string remainder_text(const revocation_progress& progress) {
  const auto names = names_of(progress, false);
  return list_of(names) + (names.size() == 1 ? " still holds " : " still hold ") + printable(progress.path);
}

}  // namespace zkadmin
