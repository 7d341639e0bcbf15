#include "balance_summary.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace demo {

step_log::step_log(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), file.string());
}

step_log::~step_log() { ::close(file_); }

void step_log::record(const step_mark& what) {
  const auto line = std::to_string(static_cast<int>(what.what)) + ' ' + std::to_string(what.before_ns) + ' ' +
                    std::to_string(what.after_ns) + ' ' + std::to_string(what.position) + " .\n";
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::system_error(errno, std::generic_category(), "step log");
  }
}

std::vector<step_mark> read_steps(const std::filesystem::path& file) {
  std::vector<step_mark> marks;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    step_mark mark;
    int kind = 0;
    std::string end;
    if (!(fields >> kind >> mark.before_ns >> mark.after_ns >> mark.position >> end) || end != ".") continue;
    mark.what = static_cast<step_mark::kind>(kind);
    marks.push_back(mark);
  }
  return marks;
}

namespace {

struct stretch {
  std::vector<step_mark> steps;
  std::int64_t until_ns = 0;
  bool is_over = false;

  bool goes_on_with(const step_mark& step) const { return !is_over && steps.back().position + 1 == step.position; }
  void add(const step_mark& mark) {
    switch (mark.what) {
      case step_mark::kind::step:
        steps.push_back(mark);
        until_ns = std::max(until_ns, mark.before_ns);
        break;
      case step_mark::kind::live:  // it may be known of another place than that of the last step
        if (!is_over && mark.position == steps.back().position) until_ns = std::max(until_ns, mark.after_ns);
        break;
      case step_mark::kind::leaving:
        if (!is_over) until_ns = std::min(until_ns, mark.before_ns);
        is_over = true;
        break;
      case step_mark::kind::begins: is_over = true; break;
    }
  }
  bool is_live(std::int64_t when) const { return steps.front().after_ns <= when && when <= until_ns; }
  /// Behind the last step that was surely made by then.
  std::int64_t least(std::int64_t when) const {
    const auto made = [when](const step_mark& each) { return each.after_ns <= when; };
    return std::prev(std::partition_point(steps.begin(), steps.end(), made))->position;
  }
  /// Behind the last step that can have been made by then.
  std::int64_t most(std::int64_t when) const {
    const auto begun = [when](const step_mark& each) { return each.before_ns <= when; };
    return std::prev(std::partition_point(steps.begin(), steps.end(), begun))->position;
  }
};

void add_stretches(std::vector<stretch>& all, const std::vector<step_mark>& marks) {
  bool is_first = true;
  for (const auto& each : marks) {
    if (each.what == step_mark::kind::step && (is_first || !all.back().goes_on_with(each))) {
      all.emplace_back();
      is_first = false;
    }
    if (!is_first) all.back().add(each);
  }
}

}  // namespace

spread_figures measure_spread(const std::map<std::string, std::vector<step_mark>>& marks) {
  std::vector<stretch> all;
  for (const auto& [process, own] : marks) add_stretches(all, own);
  spread_figures found;
  found.stretches = all.size();
  std::vector<std::int64_t> moments;
  for (const auto& each : all) {
    found.steps += each.steps.size();
    for (const auto& step : each.steps) moments.push_back(step.after_ns);
  }
  for (const auto when : moments) {
    auto lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t highest = 0;
    for (const auto& each : all) {
      if (!each.is_live(when)) continue;
      lowest = std::min(lowest, each.most(when));
      highest = std::max(highest, each.least(when));
    }
    if (highest > lowest) found.max_spread = std::max(found.max_spread, highest - lowest);
  }
  return found;
}

}  // namespace demo
