#include "run/journal.hpp"

#include <cstdio>

namespace zkrecipes::simulation {

void journal::note(int who, std::string_view what, std::string_view subject, std::int64_t number) {
  mix(static_cast<std::uint64_t>(clock_.now().count()));
  mix(static_cast<std::uint64_t>(who));
  mix(static_cast<std::uint64_t>(number));
  for (char c : what) mix(static_cast<unsigned char>(c));
  for (char c : subject) mix(static_cast<unsigned char>(c));
  if (!print_) return;
  const double seconds = std::chrono::duration<double>(clock_.now()).count();
  const std::string name = who == ensemble ? "ensemble" : "client " + std::to_string(who);
  const std::string figure = number == 0 ? "" : std::to_string(number);
  std::printf("%11.6f  %-9s %-24.*s %.*s %s\n", seconds, name.c_str(), static_cast<int>(what.size()), what.data(),
              static_cast<int>(subject.size()), subject.data(), figure.c_str());
}

}  // namespace zkrecipes::simulation
