// How a run gets its messages.
#pragma once

#include <memory>

#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_news.hpp"
#include "delivery/delivery_repeats.hpp"
#include "delivery/delivery_window.hpp"
#include "delivery/parked_keys.hpp"
#include "delivery/probation.hpp"
#include "session/background.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// Part of a run, which keeps it. On the strand.
class delivery_intake {
 public:
  delivery_intake(core_ptr session, delivery_frame& frame, delivery_window& window, probation& watch,
                  parked_keys& parked, delivery_repeats& repeats, delivery_news& news);

  bool is_reading() const noexcept { return is_receiving_ || is_rereading_; }
  /// Receives what there is room for, and reads again what the window misses. `run`: kept meanwhile. `is_idle`: there
  /// is nothing to process or to commit.
  void read_on(const std::shared_ptr<void>& run, bool is_idle);
  void stop();
  /// Drops what was received of keys that were revived, so that it comes again behind what was put back.
  /// `is_committing`: something refers to messages of the window.
  void take_up_revived(bool is_committing);
  /// Somebody else may have moved the position of the source: then what was received and processed before does not
  /// count. `is_busy`: calls run, which are waited for, or a commit does.
  void reopen(bool is_busy);

 private:
  awaitable<void> receive();
  awaitable<void> read_missing();

  core_ptr session_;
  delivery_frame& frame_;
  delivery_window& window_;
  probation& probation_;
  parked_keys& parked_;
  delivery_repeats& repeats_;
  delivery_news& news_;
  // Each is a new one for each reading, because the end of one clears the slot of its signal a moment later.
  background receiver_;
  background rereader_;
  bool is_receiving_ = false;
  bool is_rereading_ = false;
  bool must_open_ = true;  // before anything is received
};

}  // namespace zkrecipes::detail
