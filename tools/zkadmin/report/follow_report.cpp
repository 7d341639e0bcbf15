#include "report/follow_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

std::string names_of(const hand_over_step& step) {
  const std::string to = step.to.empty() ? "nobody yet" : printable(step.to);
  switch (step.state) {
    case hand_over_state::requested:
    case hand_over_state::seen: return printable(step.from);
    case hand_over_state::finishing:
    case hand_over_state::awaiting: return printable(step.from) + " -> " + to;
    case hand_over_state::inaugurating:
    case hand_over_state::executing: break;
  }
  const std::string term = step.epoch > 0 ? "  term " + std::to_string(step.epoch) : "";
  return to + term + (step.takeover.empty() ? "" : ", " + step.takeover);
}

std::string remark_on(const hand_over_part& part, bool is_reached) {
  if (part.was_skipped) return "none: the leader retired";
  if (part.from_record) return "not seen; by the record, at most";
  if (!part.was_seen) return is_reached ? "not seen" : "not reached";
  return part.at_most ? "at most: a state behind it was not seen" : "";
}

bool is_reached(const hand_over_progress& progress, const hand_over_part& part) {
  return part.state <= progress.last().state;
}

json::object to_object(const hand_over_progress& progress, const hand_over_part& part) {
  json::object object;
  object["state"] = to_string(part.state);
  object["seen"] = part.was_seen;
  object["lasted_ms"] = or_null(part.lasted);
  const auto remark = remark_on(part, is_reached(progress, part));
  object["remark"] = or_null(remark);
  return object;
}

}  // namespace

std::string to_line(const hand_over_step& step) {
  return progress_line(step.at, to_string(step.state), names_of(step));
}

std::string to_ndjson(const hand_over_step& step) {
  json::object object;
  object["event"] = "state";
  object["state"] = to_string(step.state);
  object["at_ms"] = step.at.count();
  object["from"] = or_null(step.from);
  object["to"] = or_null(step.to);
  object["epoch"] = step.epoch;
  object["takeover"] = or_null(step.takeover);
  return json_line(object);
}

std::string to_text(const hand_over_progress& progress, const std::string& ending) {
  const auto content =
      table_of({{"STATE"}, {"LASTED", 0, true}, {""}}, progress.parts(), [&progress](const hand_over_part& each) {
        return row_of(to_string(each.state), each.lasted, remark_on(each, is_reached(progress, each)));
      });
  return "\n" + printed(content) + (ending.empty() ? "" : "\n" + printable(ending) + "\n");
}

std::string to_ndjson(const hand_over_progress& progress, const std::string& ending) {
  auto states = array_of(progress.parts(), [&progress](const auto& each) { return to_object(progress, each); });
  json::object object;
  object["event"] = "end";
  object["done"] = progress.is_done();
  object["leader"] = progress.is_done() ? or_null(progress.last().to) : json::value(nullptr);
  object["epoch"] = progress.last().epoch;
  object["takeover"] = or_null(progress.last().takeover);
  object["after_ms"] = progress.last().at.count();
  object["states"] = std::move(states);
  object["problem"] = or_null(ending);
  return json_line(object);
}

std::string result_line(const hand_over_progress& progress, const std::string& path) {
  const auto& last = progress.last();
  const std::string term = last.epoch > 0 ? " executes term " + std::to_string(last.epoch) + " of " : " leads at ";
  const std::string who = last.to.empty() ? "a candidate without an id" : printable(last.to);
  return who + term + printable(path) + ", " + short_duration(last.at) + " after the request" +
         (last.takeover.empty() ? "" : " (" + last.takeover + ")");
}

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

json::array holder_array(const std::vector<std::string>& names) {
  return array_of(names, [](const std::string& each) { return or_null(each); });
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
  object["gone"] = holder_array(names_of(progress, true));
  object["still_there"] = holder_array(names_of(progress, false));
  object["holders"] = progress.is_present_known ? json::value(holder_array(progress.present)) : json::value(nullptr);
  object["after_ms"] = last_end(progress).count();
  object["problem"] = or_null(problem);
  return json_line(object);
}

std::string remainder_text(const revocation_progress& progress) {
  const auto names = names_of(progress, false);
  return list_of(names) + (names.size() == 1 ? " still holds " : " still hold ") + printable(progress.path);
}

}  // namespace zkadmin
