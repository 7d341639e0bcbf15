#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>

namespace follower_cut {
namespace {

namespace json = boost::json;

const char* name(load what) {
  switch (what) {
    case load::idle: return "idle";
    case load::reads: return "reads";
    case load::writes: return "writes";
    case load::breaks: break;
  }
  return "disturbed";
}

const char* name(cut what) { return what == cut::flip ? "flip" : what == cut::leader ? "leader" : "link"; }

const char* name(zkrecipes::lease_mode mode) { return mode == zkrecipes::lease_mode::strict ? "strict" : "standard"; }

struct range {
  double low = 0;
  double high = 0;
};

template <class Value>
range over(const row& all, Value value) {
  const auto by_value = [&](const sighting& a, const sighting& b) { return value(a) < value(b); };
  const auto [low, high] = std::minmax_element(all.seen.begin(), all.seen.end(), by_value);
  return {value(*low).count(), value(*high).count()};
}

struct summary {
  explicit summary(const row& all)
      : other_owns(over(all, [](const sighting& each) { return each.other_owns; })),
        believed_until(over(all, [](const sighting& each) { return each.believed_until; })),
        overlap(over(all, [](const sighting& each) { return each.overlap(); })) {}
  range other_owns;
  range believed_until;
  range overlap;
};

std::string seconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", ms / 1000);
  return text;
}

void print_count(std::ostream& out, const std::vector<row>& rows) {
  std::size_t trials = 0, overlapped = 0, no_other = 0;
  for (const auto& each : rows) {
    trials += each.seen.size();
    overlapped += static_cast<std::size_t>(std::count_if(
        each.seen.begin(), each.seen.end(), [](const sighting& one) { return one.overlap().count() > 0; }));
    for (const auto& [why, times] : each.no_overlap) no_other += static_cast<std::size_t>(times);
  }
  out << '\n'
      << trials + no_other << " trials: " << overlapped << " overlapped, in " << no_other
      << " nobody else became owner\n";
}

std::string cell(const range& from) { return seconds(from.low) + " to " + seconds(from.high); }

}  // namespace

json::array to_json(const std::vector<row>& rows) {
  json::array all;
  for (const auto& each : rows) {
    json::array seen;
    for (const auto& one : each.seen) {
      seen.push_back(json::object{{"other_owns_ms", one.other_owns.count()},
                                  {"believed_until_ms", one.believed_until.count()},
                                  {"overlap_ms", std::max(0.0, one.overlap().count())},
                                  {"reason", one.reason}});
    }
    all.push_back(json::object{{"tick_ms", each.tick.count()},
                               {"sync_limit", each.sync_limit},
                               {"session_ms", each.how.session.count()},
                               {"mode", name(each.how.mode)},
                               {"load", name(each.how.load)},
                               {"cut", name(each.how.cut)},
                               {"no_overlap", json::object(each.no_overlap.begin(), each.no_overlap.end())},
                               {"trials", seen}});
  }
  return all;
}

void print(std::ostream& out, const std::vector<row>& rows) {
  out << "| tick, session | syncLimit x tick | lease | session is | trials | another owns after | the old "
         "owner believes "
         "until | both believe, at most | least gap |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& each : rows) {
    out << "| " << seconds(each.tick.count()) << ", " << seconds(each.how.session.count()) << " | "
        << seconds(each.tick.count() * each.sync_limit) << " | " << name(each.how.mode) << " | " << name(each.how.load)
        << " | " << each.seen.size();
    for (const auto& [why, times] : each.no_overlap) out << " (" << times << " more: " << why << ')';
    if (each.seen.empty()) {
      out << " | | | | |\n";
      continue;
    }
    const summary found(each);
    out << " | " << cell(found.other_owns) << " | " << cell(found.believed_until) << " | "
        << (found.overlap.high > 0 ? seconds(found.overlap.high) : "none") << " | "
        << (found.overlap.high > 0 ? "-" : seconds(-found.overlap.high)) << " |\n";
  }
  print_count(out, rows);
}

}  // namespace follower_cut
