// What of a message its dead letter keeps, if all of it is too large for a request.
#pragma once

#include <cstddef>
#include <optional>

namespace zkrecipes::detail {

/// Each time the letter is refused as too large it is made smaller. First the reason is left out. Then, if the message
/// may be cut, the reason is back, and half a request is for the data, a quarter, and so on, because what else the
/// transaction has, such as a position, can take nearly all of it. At last nothing is left of the data, and the reason
/// is left out again.
struct letter_bounds {
  bool has_reason = true;
  std::optional<std::size_t> most_data{};  ///< See `settlement`.

  /// `is_told`: the letter that was refused has a reason. `may_cut`: see `message_source::traits`. `longest`: bytes of
  /// a request. False: there is no smaller letter.
  bool shrink(bool is_told, bool may_cut, std::size_t longest) noexcept {
    const bool has_data = !most_data || *most_data > 0;
    if (is_told && (!most_data || !has_data)) {
      has_reason = false;
      return true;
    }
    if (!may_cut || !has_data) return false;
    has_reason = true;
    most_data = most_data.value_or(longest) / 2;
    return true;
  }
};

}  // namespace zkrecipes::detail
