// The clock that leases are measured on: it goes on while the machine sleeps and never jumps.
#pragma once

#include <chrono>
#include <type_traits>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// A length of time, given in any unit of `std::chrono` and kept in `Unit`. A length that does not fit becomes the
/// longest or the shortest one that does. `hours::max()`, for example, is meant to be endless; a conversion by
/// `std::chrono` would overflow and give an arbitrary number.
template <class Unit>
class time_span {
 public:
  template <class Rep, class Period>
  constexpr time_span(std::chrono::duration<Rep, Period> given) noexcept : value_(saturated(given)) {}

  constexpr operator Unit() const noexcept { return value_; }

 private:
  template <class Given>
  static constexpr Unit saturated(Given given) noexcept {
    // `wide` can hold both ranges, though not every digit. At the bounds only the bound matters.
    using wide = std::chrono::duration<long double, typename Unit::period>;
    if (wide(given) >= wide(Unit::max())) return Unit::max();
    if (wide(given) <= wide(Unit::min())) return Unit::min();
    if (given != given) return Unit::zero();  // not a number
    return std::chrono::duration_cast<Unit>(given);
  }

  Unit value_;
};

/// The clock of leases and deadlines, a clock in the sense of the standard library.
struct lease_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<lease_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

/// How long an operation may take. Zero or less: the time is up at once. The maximum: no limit.
using time_budget = time_span<lease_clock::duration>;

}  // namespace zkrecipes
