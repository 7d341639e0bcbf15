#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// Carries a cancellation by the user to the strand.
struct relay {
  asio::any_io_executor strand;
  asio::cancellation_signal signal;
};

/// Forwards a cancellation from the user's slot to a signal of ours, on the strand. Asio's own forwarding refers to a
/// signal inside the slot, which a completion on another thread may already have replaced. The slot may outlive the
/// operation, and even the context, so its handler has only a weak pointer.
/// `always`: there is a signal also without a slot.
inline std::shared_ptr<relay> forward_cancellation(asio::cancellation_slot slot, const asio::any_io_executor& strand,
                                                   bool always = false) {
  if (!slot.is_connected() && !always) return nullptr;
  auto made = std::make_shared<relay>();
  made->strand = strand;
  if (!slot.is_connected()) return made;
  slot.assign([weak = std::weak_ptr(made)](asio::cancellation_type type) {
    auto alive = weak.lock();
    if (alive) asio::post(alive->strand, [alive, type] { alive->signal.emit(type); });
  });
  return made;
}

}  // namespace zkrecipes::detail
