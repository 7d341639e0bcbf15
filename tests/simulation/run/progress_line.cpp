#include "run/progress_line.hpp"

#include <cstdio>
#include <utility>

#include <unistd.h>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

std::string minutes(std::chrono::seconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(time.count() / 60),
                static_cast<long long>(time.count() % 60));
  return text;
}

}  // namespace

progress_line::progress_line() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

void progress_line::show(double part, const std::string& what) {
  const auto now = clock::now();
  if (!is_terminal_ || now < next_) return;
  next_ = now + 250ms;
  const auto spent = std::chrono::duration_cast<std::chrono::seconds>(now - began_);
  std::string left = "?";
  if (part > 0 && now - began_ > 1s) {
    const auto rest = std::chrono::duration<double>(now - began_) * (1 / part - 1);
    left = minutes(std::chrono::duration_cast<std::chrono::seconds>(rest));
  }
  std::fprintf(stderr, "\r\033[K%3.0f %%  %s, for %s, %s left", part * 100, what.c_str(), minutes(spent).c_str(),
               left.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::clear() {
  if (!std::exchange(shown_, false)) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace zkrecipes::simulation
