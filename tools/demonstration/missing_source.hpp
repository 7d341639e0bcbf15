#pragma once

#include <stdexcept>
#include <string>

#include "source_kind.hpp"

namespace demo {

/// For a source whose component was not built. `package`: the one of Debian 12 that it needs.
[[noreturn]] inline void refuse_source(source_kind which, const std::string& package) {
  throw std::invalid_argument("--source " + name_of(which) + ": built without it. On Debian 12: apt-get install " +
                              package);
}

}  // namespace demo
