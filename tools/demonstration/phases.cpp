#include "phases.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace demo {

namespace asio = boost::asio;

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

phase_mark silenced(std::string consumer) { return {monotonic_ns(), std::move(consumer), 0, "silenced", false}; }

phase_log::phase_log(const std::filesystem::path& file) : out_(file, std::ios::app) {
  if (!out_) throw std::runtime_error("cannot write " + file.string());
}

void phase_log::note(const phase_mark& what) {
  out_ << what.time_ns << ' ' << what.consumer << ' ' << what.epoch << ' ' << what.phase << ' '
       << (what.begins ? "begins" : "ends") << std::endl;
}

std::shared_ptr<void> phase_log::begins(std::string consumer, std::int64_t epoch, std::string phase) {
  phase_mark mark{monotonic_ns(), std::move(consumer), epoch, std::move(phase), true};
  note(mark);
  return std::shared_ptr<void>(nullptr, [this, mark](void*) mutable {
    mark.time_ns = monotonic_ns();
    mark.begins = false;
    note(mark);
  });
}

std::vector<phase_mark> read_phases(const std::filesystem::path& folder) {
  std::vector<phase_mark> marks;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(each.path());
    phase_mark mark;
    for (std::string what; in >> mark.time_ns >> mark.consumer >> mark.epoch >> mark.phase >> what;) {
      mark.begins = what == "begins";
      marks.push_back(mark);
    }
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const phase_mark& a, const phase_mark& b) { return a.time_ns < b.time_ns; });
  return marks;
}

std::uint64_t count_overlaps(const std::vector<phase_mark>& marks) {
  std::map<std::string, std::optional<std::int64_t>> going_on;  // for each consumer: the epoch of its present phase
  std::uint64_t overlaps = 0;
  for (const auto& mark : marks) {
    auto& own = going_on[mark.consumer];
    if (!mark.begins) {
      own.reset();
      continue;
    }
    for (const auto& [consumer, epoch] : going_on) {
      if (epoch && *epoch != mark.epoch) ++overlaps;
    }
    own = mark.epoch;
  }
  return overlaps;
}

asio::awaitable<void> logged_career::inaugurate(zkrecipes::term present) {
  auto goes_on = log_.begins(consumer_, present.epoch(), "inaugurate");
  co_await inner_.inaugurate(present);
}

asio::awaitable<void> logged_career::execute(zkrecipes::term present) {
  auto goes_on = log_.begins(consumer_, present.epoch(), "execute");
  co_await inner_.execute(present);
}

asio::awaitable<void> logged_career::hand_over(zkrecipes::term present, zkrecipes::term_end reason) {
  auto goes_on = log_.begins(consumer_, present.epoch(), "hand_over");
  co_await inner_.hand_over(present, reason);
}

asio::awaitable<void> logged_career::ended(zkrecipes::term present, zkrecipes::term_end reason) {
  co_await inner_.ended(present, reason);
}

}  // namespace demo
