#include "phase_log.hpp"

#include <stdexcept>
#include <utility>

namespace demo {

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

}  // namespace demo
