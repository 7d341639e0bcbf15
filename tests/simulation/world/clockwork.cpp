#include "world/clockwork.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

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

void clockwork::at(instant when, action what) {
  if (free_.empty()) {
    free_.push_back(actions_.size());
    actions_.emplace_back();
  }
  const auto place = free_.back();
  free_.pop_back();
  actions_[place] = std::move(what);
  heap_.push_back({std::max(when, now_), events_++, place});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool clockwork::step(instant limit) {
  if (heap_.empty() || heap_.front().when > limit) {
    now_ = limit;
    return false;
  }
  const auto next = heap_.front();
  std::pop_heap(heap_.begin(), heap_.end(), later);
  heap_.pop_back();
  now_ = next.when;
  auto what = std::move(actions_[next.place]);
  free_.push_back(next.place);
  what();
  return true;
}

}  // namespace zkrecipes::simulation
