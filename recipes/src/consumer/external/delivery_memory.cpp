#include "external/delivery_memory.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view numbered_prefix = "zkr:";

}  // namespace

std::string to_string(const numbered_id& which) {
  return std::string(numbered_prefix) + which.producer + ':' + std::to_string(which.epoch) + ':' +
         std::to_string(which.number);
}

std::optional<numbered_id> parse_numbered_id(std::string_view text) {
  if (!text.starts_with(numbered_prefix)) return std::nullopt;
  text.remove_prefix(numbered_prefix.size());
  const auto second = text.rfind(':');
  const auto first = second == text.npos || second == 0 ? text.npos : text.rfind(':', second - 1);
  if (first == text.npos || first == 0 || first > longest_numbering_producer) return std::nullopt;
  const auto epoch = parse_plain_number(text.substr(first + 1, second - first - 1));
  const auto number = parse_plain_number(text.substr(second + 1));
  if (!epoch || !number || *number == 0) return std::nullopt;
  return numbered_id{std::string(text.substr(0, first)), *epoch, *number};
}

/// The place of the first range above the number.
std::size_t settled_run::place_behind(std::uint64_t number) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(ranges_, number, {}, &range::first) - ranges_.begin());
}

bool settled_run::has(std::uint64_t number) const {
  const auto behind = place_behind(number);
  return behind > 0 && number <= ranges_[behind - 1].last;
}

/// Those that the new range touches become one with it.
void settled_run::add(std::uint64_t first, std::uint64_t last) {
  if (first == 0 || first > last) return;
  const auto begin = std::ranges::lower_bound(ranges_, first - 1, {}, &range::last);
  auto end = begin;
  while (end != ranges_.end() && end->first - 1 <= last) ++end;
  if (begin == end) {
    ranges_.insert(begin, {first, last});
  } else {
    *begin = {std::min(first, begin->first), std::max(last, std::prev(end)->last)};
    ranges_.erase(begin + 1, end);
  }
  if (ranges_.size() > most_ranges) forget_lowest();
}

void settled_run::add(const settled_run& other) {
  for (const auto& each : other.ranges_) add(each.first, each.last);
}

void settled_run::remove(const settled_run& other) {
  settled_run rest;
  for (const auto& each : ranges_) rest.add(other.without(each.first, each.last));
  ranges_ = std::move(rest.ranges_);
}

settled_run settled_run::without(std::uint64_t first, std::uint64_t last) const {
  settled_run rest;
  for (const auto& each : ranges_) {
    if (each.first > last) break;
    if (each.first > first) rest.add(first, each.first - 1);
    first = std::max(first, each.last + 1);
  }
  rest.add(first, last);
  return rest;
}

std::string settled_run::to_text() const {
  std::string text;
  for (const auto& each : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(each.first);
    if (each.last != each.first) text.append(1, '-').append(std::to_string(each.last));
  }
  return text;
}

std::optional<settled_run> settled_run::parse(std::string_view text) {
  settled_run all;
  for (bool goes_on = true; goes_on;) {
    const auto comma = text.find(',');
    const auto one = parse_range(text.substr(0, comma));
    if (!one || !all.append(*one)) return std::nullopt;
    goes_on = comma != text.npos;
    if (goes_on) text.remove_prefix(comma + 1);
  }
  return all;
}

std::optional<settled_run::range> settled_run::parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_plain_number(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_plain_number(text.substr(dash + 1));
  const bool is_range = first && last && *first > 0 && (dash == text.npos || *first < *last);
  return is_range ? std::optional(range{*first, *last}) : std::nullopt;
}

/// There is a number between it and the range in front of it.
bool settled_run::append(const range& one) {
  if (ranges_.size() == most_ranges) return false;
  if (!ranges_.empty() && (one.first <= ranges_.back().last || one.first - 1 == ranges_.back().last)) return false;
  ranges_.push_back(one);
  return true;
}

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

namespace {

constexpr std::string_view memory_kind = "delivery_memory";

std::optional<std::vector<std::string>> list_or_nothing(const json_object& of, std::string_view name) {
  return of.has(name) ? of.texts(name) : std::vector<std::string>();
}

/// What an id takes as an element of the record, with a comma.
std::size_t bytes_in_record(const std::string& id) {
  std::string text;
  append_quoted(text, id);
  return text.size() + 1;
}

/// The end of the texts of missing numbers of this epoch.
std::string end_of_missing(const numbered_id& of) { return ' ' + std::to_string(of.epoch) + ' ' + of.producer; }

/// Nothing if the text is of another epoch.
std::optional<settled_run> missing_numbers(const std::string& text, const std::string& end) {
  return text.ends_with(end) ? settled_run::parse(text.substr(0, text.size() - end.size())) : std::nullopt;
}

void add_missing(std::vector<std::string>& list, const settled_run& numbers, const numbered_id& of) {
  auto text = numbers.to_text();
  if (text.size() > delivery_memory::longest_missing)
    text = text.substr(0, text.find_first_of(",-")) + '-' + text.substr(text.find_last_of(",-") + 1);
  list.push_back(text + end_of_missing(of));
  if (list.size() > delivery_memory::most_missing) list.erase(list.begin());
}

}  // namespace

bool delivery_memory::knows(const std::string& id) const {
  if (names_.contains(id)) return true;
  const auto numbered = runs_.empty() ? std::nullopt : parse_numbered_id(id);
  return numbered && runs_.has(*numbered);
}

void delivery_memory::settle_unnamed(const std::string& id) {
  forget(id);
  if (settled_ < std::numeric_limits<std::int64_t>::max()) ++settled_;
}

void delivery_memory::settle(const std::string& id, std::uint64_t first) {
  failed_.erase(id);
  if (settled_ < std::numeric_limits<std::int64_t>::max()) ++settled_;
  if (const auto numbered = parse_numbered_id(id)) {
    record_found(*numbered, first);
    return runs_.add(*numbered, first);
  }
  runs_.count_settlement();
  add_name(id);
  while (names_.size() > most_names || bytes_of_names_ > most_bytes_of_names)
    remove_name(std::string(places_.begin()->second));
}

void delivery_memory::forget(const std::string& id) {
  failed_.erase(id);
  remove_name(id);
}

/// False if it is there.
bool delivery_memory::add_name(const std::string& id) {
  const bool is_new = names_.try_emplace(id, last_place_ + 1).second;
  if (!is_new) return false;
  places_.emplace(++last_place_, id);
  bytes_of_names_ += bytes_in_record(id);
  return true;
}

void delivery_memory::remove_name(const std::string& id) {
  const auto found = names_.find(id);
  if (found == names_.end()) return;
  bytes_of_names_ -= bytes_in_record(id);
  places_.erase(found->second);
  names_.erase(found);
}

void delivery_memory::fail(const std::string& id, std::int64_t since) { count_failure(failed_, id, since); }

failed_attempts delivery_memory::failed(const std::string& id) const {
  const auto found = failed_.find(id);
  return found == failed_.end() ? failed_attempts() : found->second;
}

void delivery_memory::set_field(std::string_view field, const std::string& text) {
  if (text.empty())
    unknown_fields_.erase(field);
  else
    unknown_fields_.set(field, text);
}

settled_run delivery_memory::not_come(const numbered_id& of, std::uint64_t from, std::uint64_t to,
                                      const settled_run& open) const {
  auto known = open;
  if (const auto* settled = runs_.find(of)) known.add(*settled);
  const auto end = end_of_missing(of);
  for (const auto* list : {&missing_, &unknown_}) {
    for (const auto& each : *list) {
      if (const auto told = missing_numbers(each, end)) known.add(*told);
    }
  }
  return known.without(from, to);
}

std::string delivery_memory::record_missing(const numbered_id& of, std::uint64_t from, std::uint64_t to,
                                            const settled_run& open) {
  const auto lost = not_come(of, from, to, open);
  if (lost.empty()) return {};
  add_missing(missing_, lost, of);
  return missing_.back();
}

void delivery_memory::record_unknown(const numbered_id& of, std::uint64_t from, std::uint64_t to,
                                     const settled_run& open) {
  auto all = not_come(of, from, to, open);
  if (all.empty()) return;
  const auto end = end_of_missing(of);
  const auto is_its = [&end](const auto& each) { return missing_numbers(each, end).has_value(); };
  if (const auto before = std::ranges::find_if(unknown_, is_its); before != unknown_.end()) {
    all.add(*missing_numbers(*before, end));
    unknown_.erase(before);
  }
  add_missing(unknown_, all, of);
}

/// A broker that has rejected a message may take the next one first, so it comes behind it.
void delivery_memory::record_found(const numbered_id& which, std::uint64_t first) {
  if (missing_.empty()) return;
  settled_run found;
  found.add(which.number);
  found.add(first, which.number);
  const auto end = end_of_missing(which);
  for (auto& each : missing_) {
    auto told = missing_numbers(each, end);
    if (!told) continue;
    told->remove(found);
    each = told->empty() ? std::string() : told->to_text() + end;
  }
  std::erase(missing_, std::string());
}

std::vector<std::string> delivery_memory::names() const {
  std::vector<std::string> all;
  for (const auto& [place, each] : places_) all.push_back(each);
  return all;
}

std::vector<std::string> delivery_memory::failed_names() const {
  std::vector<std::string> all;
  for (const auto& [each, attempts] : failed_) all.push_back(each);
  return all;
}

bool delivery_memory::read_runs(const std::vector<std::string>& texts) {
  for (const auto& each : texts) {
    if (!runs_.append(each)) return false;
  }
  return true;
}

bool delivery_memory::read_names(const std::vector<std::string>& texts) {
  for (const auto& each : texts) {
    if (each.empty() || parse_numbered_id(each) || !add_name(each)) return false;
  }
  return names_.size() <= most_names;
}

bool delivery_memory::read_failed(const std::vector<std::string>& texts) {
  for (const auto& each : texts) {
    const auto read = parse_failed_attempts(each);
    if (!read || read->first.empty() || read->second.count == 0) return false;
    const std::string id(read->first);
    if (!failed_.try_emplace(id, read->second).second) return false;
  }
  return failed_.size() <= most_failed;
}

std::string serialize(const delivery_memory& memory) {
  auto all = json_object::of_kind(memory_kind);
  all.set("settled", memory.settled_);
  if (!memory.runs_.empty()) all.set("runs", memory.runs_.texts());
  if (!memory.names_.empty()) all.set("names", memory.names());
  std::vector<std::string> failed;
  for (const auto& [id, attempts] : memory.failed_) failed.push_back(failed_text(id, attempts));
  if (!failed.empty()) all.set("failed", failed);
  if (!memory.missing_.empty()) all.set("missing", memory.missing_);
  if (!memory.unknown_.empty()) all.set("unknown", memory.unknown_);
  return all.add(memory.unknown_fields_).to_text();
}

std::optional<delivery_memory> parse_delivery_memory(std::string_view text) {
  const auto read = json_object::parse(text);
  if (!read || !read->is(memory_kind)) return std::nullopt;
  delivery_memory memory;
  const auto settled = read->integer("settled", 0);
  const auto runs = list_or_nothing(*read, "runs");
  const auto names = list_or_nothing(*read, "names");
  const auto failed = list_or_nothing(*read, "failed");
  auto missing = list_or_nothing(*read, "missing");
  auto unknown = list_or_nothing(*read, "unknown");
  if (!settled || !runs || !names || !failed || !missing || !unknown) return std::nullopt;
  memory.missing_ = std::move(*missing);
  memory.unknown_ = std::move(*unknown);
  memory.settled_ = *settled;
  if (!memory.read_runs(*runs) || !memory.read_names(*names) || !memory.read_failed(*failed)) return std::nullopt;
  memory.unknown_fields_ = read->without({"settled", "runs", "names", "failed", "missing", "unknown"});
  return memory;
}

}  // namespace zkrecipes::detail
