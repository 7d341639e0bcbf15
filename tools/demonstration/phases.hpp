// When the calls of the consumers' careers began and ended. Each process logs its own calls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/leader_career.hpp>

namespace demo {

/// One entry of a log. The time is of the machine's monotonic clock, which is the same for all processes.
struct phase_mark {
  std::int64_t time_ns = 0;
  std::string consumer;
  std::int64_t epoch = 0;
  std::string phase;
  bool begins = false;
};

/// A log that is flushed after each line: also the log of a killed process is complete.
class phase_log {
 public:
  explicit phase_log(const std::filesystem::path& file);

  void note(const phase_mark& what);
  /// Logs the beginning of a phase now, and its end when the returned object is destroyed.
  [[nodiscard]] std::shared_ptr<void> begins(std::string consumer, std::int64_t epoch, std::string phase);

 private:
  std::ofstream out_;
};

std::int64_t monotonic_ns();

/// The mark of a process that was stopped or killed and therefore does nothing from now on.
phase_mark silenced(std::string consumer);

/// The marks of all files in the folder, in order of time.
std::vector<phase_mark> read_phases(const std::filesystem::path& folder);

/// Counts the phases that began during a phase of another term. `marks` are in order of time.
std::uint64_t count_overlaps(const std::vector<phase_mark>& marks);

/// Calls `inner`, and logs when its phases begin and end.
class logged_career final : public zkrecipes::leader_career {
 public:
  logged_career(zkrecipes::leader_career& inner, phase_log& log, std::string consumer)
      : inner_(inner), log_(log), consumer_(std::move(consumer)) {}

  zkrecipes::career_traits traits() const override { return inner_.traits(); }
  boost::asio::awaitable<void> inaugurate(zkrecipes::term present) override;
  boost::asio::awaitable<void> execute(zkrecipes::term present) override;
  boost::asio::awaitable<void> hand_over(zkrecipes::term present, zkrecipes::term_end reason) override;
  boost::asio::awaitable<void> ended(zkrecipes::term present, zkrecipes::term_end reason) override;

 private:
  zkrecipes::leader_career& inner_;
  phase_log& log_;
  std::string consumer_;
};

}  // namespace demo
