// Lengths of time as users give them.
#pragma once

#include <chrono>
#include <type_traits>

namespace zkrecipes {

/// A length of time, given in any unit of `std::chrono` and kept in `Unit`. A length that does not fit becomes the longest,
/// or the shortest, that does: `hours::max()` is meant to be endless, and converted as `std::chrono` does it would be an
/// arbitrary number.
template <class Unit>
class time_span {
 public:
  template <class Rep, class Period>
  constexpr time_span(std::chrono::duration<Rep, Period> given) noexcept : value_(saturated(given)) {}

  constexpr operator Unit() const noexcept { return value_; }

 private:
  template <class Given>
  static constexpr Unit saturated(Given given) noexcept {
    // In a type that holds both, though not to the last digit: at the bounds it is the bound that counts.
    using wide = std::chrono::duration<long double, typename Unit::period>;
    if (wide(given) >= wide(Unit::max())) return Unit::max();
    if (wide(given) <= wide(Unit::min())) return Unit::min();
    if (given != given) return Unit::zero();  // not a number
    return std::chrono::duration_cast<Unit>(given);
  }

  Unit value_;
};

}  // namespace zkrecipes
