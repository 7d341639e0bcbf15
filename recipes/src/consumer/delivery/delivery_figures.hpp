// The figures of a consumer in the record of its term, for operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "career/term_state.hpp"
#include "delivery/circuit_breaker.hpp"
#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_window.hpp"
#include "format/json_object.hpp"

namespace zkrecipes::detail {

/// They are written at most once a second, with a commit if there is one. On the strand.
class delivery_figures {
 public:
  struct figures {
    std::uint64_t received = 0, done = 0, again = 0, parked = 0, declined = 0, waited = 0, commits = 0;
    std::size_t held_back = 0, resting = 0;
    std::string held_off{};                 ///< Why nothing but probes is begun; empty: it is not so.
    bool is_still = false;                  ///< A call of `process` has run for long.
    std::string still_message{};            ///< The name of its message.
    lease_clock::time_point still_since{};  ///< When it was begun.
    std::int64_t oldest = 0;  ///< When the first message was put, in milliseconds since 1970; 0: there is none.

    friend bool operator==(const figures&, const figures&) = default;
  };
  /// What a write of the record is to show.
  struct reading {
    figures what{};
    json_object text{};
    lease_clock::time_point at{};
  };

  /// All of these outlive it.
  delivery_figures(term_ptr term, const delivery_frame& frame, const delivery_window& window,
                   const circuit_breaker& breaker)
      : term_(std::move(term)), frame_(frame), window_(window), breaker_(breaker) {}

  /// When they have to be shown next; `never` if they are shown already.
  lease_clock::time_point next_time() const;
  /// The present ones, if it is time to show them; else those that are shown.
  reading read() const;
  bool is_shown(const reading& which) const { return which.what == shown_.what; }
  void on_shown(reading which) { shown_ = std::move(which); }
  /// The message whose call of `process` has run for long; null: there is none.
  const message_in_hand* hanging() const;

 private:
  figures present() const;
  json_object to_json(const figures& what) const;
  bool is_still(lease_clock::time_point since) const;

  term_ptr term_;
  const delivery_frame& frame_;
  const delivery_window& window_;
  const circuit_breaker& breaker_;
  reading shown_;
};

/// By the clock of this process, in milliseconds since 1970.
std::int64_t wall_time(const core& session);

}  // namespace zkrecipes::detail
