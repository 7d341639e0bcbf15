#include "delivery/probation.hpp"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

constexpr std::int32_t crashes_before_probation = 2;
constexpr std::size_t longest_search = 10'000;

std::size_t length_after(std::int32_t crashes, std::size_t length) {
  if (crashes < crashes_before_probation) return 0;
  for (auto more = crashes - crashes_before_probation; more > 0 && length < longest_search; --more) length *= 2;
  return std::min(length, longest_search);
}

}  // namespace

probation::probation(const consumer_notes& notes, std::size_t length)
    : crashes_(notes.crashes),
      left_(length_after(notes.crashes, length)),
      suspects_(notes.in_hand),
      written_(names_of(notes)) {
  if (suspects_.size() > most_suspects) suspects_.erase(suspects_.begin(), suspects_.end() - most_suspects);
}

awaitable<error_code> probation::prepare(message_source& from) {
  std::erase_if(suspects_, [&from](const auto& each) { return !from.can_come(each); });
  if (is_prepared_ || suspects_.empty() || !from.can_read_again()) co_return error_code();
  const auto asked = suspects_;
  auto read = co_await from.read_again(asked);
  const auto& [error, found] = read;
  if (error) co_return error;
  is_prepared_ = true;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!found[i]) std::erase(suspects_, asked[i]);
  }
  co_return error_code();
}

void probation::begun(const std::string& name) {
  announced_.clear();
  if (is_named(name)) in_hand_.insert(name);
}

void probation::settled(const std::string& name) {
  forget(name);
  if (left_ > 0) --left_;
}

void probation::forget(const std::string& name) {
  std::erase(suspects_, name);
  in_hand_.erase(name);
}

probation::names probation::present(const std::vector<std::string_view>& settled) const {
  names all(suspects_.begin(), suspects_.end());
  all.insert(in_hand_.begin(), in_hand_.end());
  if (!announced_.empty()) all.insert(announced_);
  for (const auto each : settled) {
    const auto found = all.find(each);
    if (found != all.end()) all.erase(found);
  }
  return all;
}

consumer_notes probation::notes_with(const std::vector<std::string_view>& settled) const {
  auto named = present(settled);
  consumer_notes notes;
  notes.crashes = crashes_;
  for (const auto& each : suspects_) {  // in front, because they were named first
    if (named.erase(each) > 0) notes.in_hand.push_back(each);
  }
  notes.in_hand.insert(notes.in_hand.end(), named.begin(), named.end());
  return notes;
}

}  // namespace zkrecipes::detail
