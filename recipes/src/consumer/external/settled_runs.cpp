#include "external/settled_runs.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "external/plain_number.hpp"
#include "format/json_text.hpp"

namespace zkrecipes::detail {

bool settled_runs::has(const numbered_id& which) const {
  const auto found = runs_.find({which.producer, which.epoch});
  return found != runs_.end() && found->second.numbers.has(which.number);
}

const settled_run* settled_runs::find(const numbered_id& which) const {
  const auto found = runs_.find({which.producer, which.epoch});
  return found == runs_.end() ? nullptr : &found->second.numbers;
}

bool settled_runs::may_have_forgotten(const std::string& producer) const {
  std::size_t epochs = 0;
  for (auto each = runs_.lower_bound({producer, 0}); each != runs_.end() && each->first.first == producer; ++each)
    ++epochs;
  const bool may_lack_bytes = bytes_ > most_bytes / 2;  // `bound_bytes` leaves more than that
  return epochs >= most_epochs || runs_.size() >= most_producers || may_lack_bytes;
}

void settled_runs::add(const numbered_id& which, std::uint64_t first) {
  const auto [at, is_new] = runs_.try_emplace({which.producer, which.epoch});
  auto& numbers = at->second.numbers;
  ranges_ -= numbers.count_ranges();
  if (!is_new) bytes_ -= bytes_of(*at);
  const bool has_first = first > 0 && first <= which.number;
  numbers.add(has_first ? first : which.number, which.number);
  ranges_ += numbers.count_ranges();
  bytes_ += bytes_of(*at);
  at->second.used = ++settlements_;
  if (ranges_ > most_ranges) forget_lowest();
  if (is_new) {
    const bool is_first = forget_epochs(which.producer) == 1;
    if (is_first) forget_producers();
    if (runs_.size() > most_runs) forget(by_use().front());
  }
  if (bytes_ > most_bytes) bound_bytes();
}

/// As an element of the record.
std::size_t settled_runs::bytes_of(const runs::value_type& which) {
  constexpr std::size_t longest_epoch = 20;
  constexpr std::size_t between = 3;  // two blanks and a comma
  std::string text;
  append_quoted(text, which.first.first);
  return text.size() + longest_epoch + between + which.second.numbers.most_text();
}

/// The runs used longest ago; of the last one the lowest ranges.
void settled_runs::bound_bytes() {
  for (const auto& each : by_use()) {
    if (bytes_ <= most_bytes || runs_.size() == 1) break;
    forget(each);
  }
  while (bytes_ > most_bytes && ranges_ > 1) forget_lowest();
}

settled_runs::run_list settled_runs::by_use() const {
  run_list all;
  for (auto each = runs_.begin(); each != runs_.end(); ++each) all.push_back(each);
  std::ranges::sort(all, {}, [](const auto& each) { return each->second.used; });
  return all;
}

/// Returns how many are left.
std::size_t settled_runs::forget_epochs(const std::string& producer) {
  const auto first = runs_.lower_bound({producer, 0});
  auto end = first;
  while (end != runs_.end() && end->first.first == producer) ++end;
  auto left = static_cast<std::size_t>(std::distance(first, end));
  for (auto each = first; each != end && left > most_epochs;) {
    const auto which = each++;
    if (is_recent(which->second)) continue;
    forget(which);
    --left;
  }
  return left;
}

void settled_runs::forget_producers() {
  std::map<std::string, std::uint64_t> last_used;
  for (const auto& [of, each] : runs_) {
    auto& last = last_used[of.first];
    last = std::max(last, each.used);
  }
  auto left = last_used.size();
  std::set<std::string> forgotten;
  std::vector<std::pair<std::uint64_t, std::string>> by_age;
  for (const auto& [producer, last] : last_used) by_age.emplace_back(last, producer);
  std::ranges::sort(by_age);
  for (const auto& [last, producer] : by_age) {
    if (left <= most_producers || settlements_ - last < recent_settlements) break;
    forgotten.insert(producer);
    --left;
  }
  for (auto each = runs_.begin(); each != runs_.end();) {
    const auto which = each++;
    if (forgotten.contains(which->first.first)) forget(which);
  }
}

/// The lowest range of the run that has most of them.
void settled_runs::forget_lowest() {
  const auto most =
      std::ranges::max_element(runs_, {}, [](const auto& each) { return each.second.numbers.count_ranges(); });
  bytes_ -= bytes_of(*most);
  most->second.numbers.forget_lowest();
  bytes_ += bytes_of(*most);
  --ranges_;
}

void settled_runs::forget(runs::const_iterator which) {
  ranges_ -= which->second.numbers.count_ranges();
  bytes_ -= bytes_of(*which);
  runs_.erase(which);
}

std::vector<std::string> settled_runs::texts() const {
  std::vector<std::string> all;
  for (const auto& each : by_use()) {
    const auto& [of, run] = *each;
    all.push_back(run.numbers.to_text() + ' ' + std::to_string(of.second) + ' ' + of.first);
  }
  return all;
}

bool settled_runs::append(std::string_view text) {
  const auto first = text.find(' ');
  const auto second = first == text.npos ? text.npos : text.find(' ', first + 1);
  if (second == text.npos || runs_.size() == most_runs) return false;
  auto numbers = settled_run::parse(text.substr(0, first));
  const auto epoch = parse_plain_number(text.substr(first + 1, second - first - 1));
  const auto producer = text.substr(second + 1);
  if (!numbers || !epoch || producer.empty() || producer.size() > longest_numbering_producer) return false;
  const auto [at, is_new] = runs_.try_emplace({std::string(producer), *epoch});
  if (!is_new) return false;
  ranges_ += numbers->count_ranges();
  at->second = {std::move(*numbers), ++settlements_};
  bytes_ += bytes_of(*at);
  return ranges_ <= most_ranges;
}

}  // namespace zkrecipes::detail
