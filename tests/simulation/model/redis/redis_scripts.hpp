// The scripts that the library sends, recognised by their text.
#pragma once

#include <optional>
#include <string>

namespace zkrecipes::simulation {

/// A script is done in C++ as its text says. That of a put may lack a comparison: a planted bug.
struct redis_script {
  enum class kind { claim, put, count };

  kind what = kind::claim;
  bool compares_owner = true;
  bool compares_number = true;
};

/// Nothing: the library sends no such script.
std::optional<redis_script> recognise_script(const std::string& text);

}  // namespace zkrecipes::simulation
