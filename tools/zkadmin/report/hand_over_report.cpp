#include "report/hand_over_report.hpp"

#include "report/json_values.hpp"
#include "report/printed.hpp"
#include "report/progress_line.hpp"
#include "text.hpp"

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
  if (part.from_record) return "not seen; by the record";
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
  table content;
  content.columns = {{"STATE"}, {"LASTED", 0, true}, {""}};
  for (const auto& each : progress.parts()) {
    content.rows.push_back({{to_string(each.state)},
                            {each.lasted ? short_duration(*each.lasted) : "-"},
                            {remark_on(each, is_reached(progress, each))}});
  }
  return "\n" + printed(content) + (ending.empty() ? "" : "\n" + printable(ending) + "\n");
}

std::string to_ndjson(const hand_over_progress& progress, const std::string& ending) {
  json::array states;
  for (const auto& each : progress.parts()) states.push_back(to_object(progress, each));
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

}  // namespace zkadmin
