// The intent to make a call in a period.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// The intent that a period holds for a key, as `once_per::async_claim` found or wrote it.
struct once_intent {
  /// True: this operation has written it, so the call is to be made, by its caller alone. False: it was there already,
  /// and the call was made, or is being made, or its caller has died before or after it.
  bool is_new = false;
  std::string key{};
  std::string id{};                            ///< `once_per_options::id` of the one that wrote it.
  std::string note{};                          ///< What that caller added.
  std::string guid{};                          ///< A name of this intent alone, for a service that knows repeats.
  std::chrono::system_clock::time_point at{};  ///< When it was written, by the clock of the ensemble's leader.
  std::int64_t period = 0;                     ///< The number of the period since 1970.
  std::int32_t version = 0;                    ///< The version of the node, for `once_per::async_withdraw`.
};

}  // namespace zkrecipes
