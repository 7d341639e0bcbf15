// What a session tells the guardian of its machine.
#include <mutex>
#include <utility>

#include "session/core.hpp"

namespace zkrecipes::detail {

/// The client is stopped before we end, so that it calls us no more.
void core::call_guardian() {
  if (options_.guardian.empty()) return;
  auto told = [this](bool is_held, bool is_news, const error_code& error, std::string_view detail) {
    note_guardian(is_held, is_news, error, detail);
  };
  guardian_client::settings what{options_.guardian, options_.hang_limit, names_, credentials_};
  guardian_ = std::make_shared<guardian_client>(scheduler_, std::move(what), std::move(told));
  guardian_->start();
}

void core::note_guardian(bool is_held, bool is_news, const error_code& error, std::string_view detail) {
  {
    std::lock_guard lock(mutex_);
    status_.is_guarded = is_held;
    if (!is_held) ++counters_.guardian_failures;
  }
  if (!is_news) return;
  if (is_held) return log_.guarded(options_.guardian);
  log_.unguarded(options_.guardian, error, detail);
}

term_guard_ptr core::guard_term(const incarnation& bound, const std::string& record, const std::string& node,
                                const std::string& seat) {
  if (!guardian_) return nullptr;
  return guardian_->hold({bound.key.id, full_path(record), node, seat.empty() ? seat : full_path(seat)});
}

}  // namespace zkrecipes::detail
