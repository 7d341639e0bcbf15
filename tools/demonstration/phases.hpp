// When the calls of the consumers' careers began and ended, as the processes themselves wrote it down.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/leader_career.hpp>

namespace demo {

/// By the machine's monotonic clock, which is the same for all processes.
struct phase_mark {
  std::int64_t time_ns = 0;
  std::string consumer;
  std::int64_t epoch = 0;
  std::string phase;
  bool begins = false;
};

/// Written line by line: a process that is killed has written all that happened.
class phase_log {
 public:
  explicit phase_log(const std::filesystem::path& file);

  void note(const phase_mark& what);
  /// A phase that goes on for as long as the returned object exists.
  [[nodiscard]] std::shared_ptr<void> begins(std::string consumer, std::int64_t epoch, std::string phase);

 private:
  std::ofstream out_;
};

std::int64_t monotonic_ns();

/// A process does nothing from now on: it was stopped or killed.
phase_mark silenced(std::string consumer);

/// Of all files in the folder, in order of time.
std::vector<phase_mark> read_phases(const std::filesystem::path& folder);

/// How many phases began while one of another term went on. `marks`: in order of time.
std::uint64_t count_overlaps(const std::vector<phase_mark>& marks);

/// Does what `inner` does and writes down when.
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
