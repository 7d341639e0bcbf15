// Records the events of a run, as a hash and, on request, as text.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

/// A broken rule. The first one ends the run.
struct violation {
  std::string invariant;
  std::string detail;
};

class journal {
 public:
  journal(const clockwork& clock, bool print) : clock_(clock), print_(print) {}

  /// `who`: number of a client, or `ensemble`.
  void note(int who, std::string_view what, std::string_view subject = {}, std::int64_t number = 0);
  std::uint64_t hash() const noexcept { return hash_; }
  bool prints() const noexcept { return print_; }

  static constexpr int ensemble = -1;

 private:
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3u; }

  const clockwork& clock_;
  bool print_;
  std::uint64_t hash_ = 0xcbf29ce484222325u;  // FNV-1a
};

}  // namespace zkrecipes::simulation
