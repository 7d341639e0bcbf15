#include "phase_log.hpp"

#include <stdexcept>
#include <utility>

namespace demo {

phase_log::phase_log(const std::filesystem::path& file) : out_(file, std::ios::app) {
  if (!out_) throw std::runtime_error("cannot write " + file.string());
}

void phase_log::record(const phase_mark& what) {
  out_ << what.time_ns << ' ' << what.consumer << ' ' << what.epoch << ' ' << what.phase << ' '
       << (what.begins ? "begins" : "ends") << ' ' << what.shard << std::endl;
}

bool phase_log::record_sleep(const std::string& consumer) {
  const auto since = find_sleep_ ? find_sleep_() : std::nullopt;
  if (since) record({*since, consumer, 0, asleep, false});
  return since.has_value();
}

void phase_log::look(const std::string& consumer) {
  if (record_sleep(consumer)) record(mark_of_process(consumer, awake));
}

/// What follows a sleep at once was decided before it.
void phase_log::record_now(phase_mark what) {
  const bool has_slept = record_sleep(what.consumer);
  what.time_ns = monotonic_ns();
  record(what);
  if (has_slept) record(mark_of_process(what.consumer, awake));
}

std::shared_ptr<void> phase_log::begins(phase_mark what) {
  what.begins = true;
  record_now(what);
  return std::shared_ptr<void>(nullptr, [this, what](void*) mutable {
    what.begins = false;
    record_now(what);
  });
}

}  // namespace demo
