#include "phase_log.hpp"

#include <stdexcept>
#include <utility>

namespace demo {

phase_log::phase_log(const std::filesystem::path& file) : out_(file, std::ios::app) {
  if (!out_) throw std::runtime_error("cannot write " + file.string());
}

void phase_log::note(const phase_mark& what) {
  out_ << what.time_ns << ' ' << what.consumer << ' ' << what.epoch << ' ' << what.phase << ' '
       << (what.begins ? "begins" : "ends") << ' ' << what.shard << std::endl;
}

std::shared_ptr<void> phase_log::begins(phase_mark what) {
  what.time_ns = monotonic_ns();
  what.begins = true;
  note(what);
  return std::shared_ptr<void>(nullptr, [this, what](void*) mutable {
    what.time_ns = monotonic_ns();
    what.begins = false;
    note(what);
  });
}

}  // namespace demo
