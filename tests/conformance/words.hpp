// The words of a script's written form.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "script.hpp"

namespace zkrecipes::conformance {

inline constexpr std::array step_words{"connect", "resume", "forge", "drop", "close", "expire", "lapse", "settle"};
inline constexpr std::array request_words{
    "create", "remove",  "get",     "set",          "exists",      "children",       "sync",
    "multi",  "get_acl", "set_acl", "authenticate", "forget_data", "forget_children"};
inline constexpr std::array mode_words{"persistent", "ephemeral", "persistent_sequential", "ephemeral_sequential",
                                       "container"};
inline constexpr std::array operation_words{"create", "remove", "set", "check"};

/// The position of a word in its list. \throws std::invalid_argument
template <class Enum, std::size_t Count>
Enum find_word(const std::array<const char*, Count>& words, std::string_view word) {
  for (std::size_t i = 0; i < Count; ++i) {
    if (word == words[i]) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("unknown word \"" + std::string(word) + "\"");
}

template <class Enum, std::size_t Count>
const char* word_of(const std::array<const char*, Count>& words, Enum which) {
  return words.at(static_cast<std::size_t>(which));
}

}  // namespace zkrecipes::conformance
