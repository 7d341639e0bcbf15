#include "delivery/producer_marks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "format/whole_number.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view marks_kind = "producer_marks";

/// In a JSON text.
std::size_t length_of(char each) {
  if (each == '"' || each == '\\') return 2;
  return static_cast<unsigned char>(each) < 0x20 ? 6 : 1;
}

}  // namespace

bool producer_marks::has_processed(const message_origin& which) const {
  const auto found = marks_.find(which.producer);
  if (found == marks_.end()) return false;
  const auto& all = found->second.processed;
  const auto behind = find_behind(all, which.number);
  return behind != all.begin() && which.number <= std::prev(behind)->last;
}

void producer_marks::record_processed(const message_origin& which) {
  auto& known = *marks_.try_emplace(which.producer).first;
  if (add(known.second.processed, which.number)) moved(known);
}

void producer_marks::moved(entry& which) {
  auto& known = which.second;
  known.moved = ++moves_;
  bytes_ -= known.bytes;
  known.bytes = 3;  // the quotes and the comma
  for (const auto letter : text_of(which)) known.bytes += length_of(letter);
  bytes_ += known.bytes;
}

/// The first range above the number.
producer_marks::ranges::const_iterator producer_marks::find_behind(const ranges& all, std::uint64_t number) {
  return std::ranges::upper_bound(all, number, {}, &range::first);
}

/// Joins the number with the ranges that it touches. False: it is there already.
bool producer_marks::add(ranges& all, std::uint64_t number) {
  const auto behind = all.begin() + (find_behind(all, number) - all.begin());
  const auto before = behind == all.begin() ? all.end() : std::prev(behind);
  if (before != all.end() && number <= before->last) return false;
  const bool goes_on = before != all.end() && before->last + 1 == number;
  const bool leads_on = behind != all.end() && number + 1 == behind->first;
  if (goes_on) before->last = leads_on ? behind->last : number;
  if (goes_on && leads_on) all.erase(behind);
  if (!goes_on && leads_on) behind->first = number;
  if (!goes_on && !leads_on) all.insert(behind, {number, number});
  if (all.size() > most_gaps + 1) all.erase(all.begin());
  return true;
}

std::size_t producer_marks::forget(std::size_t most_producers) {
  const auto is_small = [&] { return marks_.size() <= most_producers && bytes_ <= most_bytes; };
  if (is_small()) return 0;
  std::size_t forgotten = 0;
  for (const auto* each : by_move()) {
    if (is_small()) break;
    bytes_ -= each->second.bytes;
    marks_.erase(marks_.find(each->first));
    ++forgotten;
  }
  return forgotten;
}

std::string producer_marks::to_text() const {
  std::vector<std::string> all;
  for (const auto* each : by_move()) all.push_back(text_of(*each));
  return json_object::of_kind(marks_kind).set("producers", all).add(unknown_fields_).to_text();
}

std::optional<producer_marks> producer_marks::parse(std::string_view text) {
  const auto read = json_object::parse(text);
  if (!read || !read->is(marks_kind)) return std::nullopt;
  const auto all = read->texts("producers");
  if (!all) return std::nullopt;
  producer_marks marks;
  for (const auto& each : *all) {
    const auto space = each.find(' ');
    if (space == each.npos) return std::nullopt;
    auto name = each.substr(space + 1);
    if (name.empty() || name.size() > longest_name) return std::nullopt;
    auto [at, is_new] = marks.marks_.try_emplace(std::move(name));
    if (!is_new || !parse_mark(std::string_view(each).substr(0, space), at->second.processed)) return std::nullopt;
    marks.moved(*at);
  }
  marks.unknown_fields_ = read->without({"producers"});
  marks.bytes_ += marks.unknown_fields_.to_text().size();
  return marks;
}

std::optional<producer_marks::range> producer_marks::parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_whole<std::uint64_t>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_whole<std::uint64_t>(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return range{*first, *last};
}

/// `1-29,32-39,57`.
bool producer_marks::parse_mark(std::string_view text, ranges& into) {
  for (bool goes_on = true; goes_on;) {
    const auto comma = text.find(',');
    const auto one = parse_range(text.substr(0, comma));
    if (!one || (!into.empty() && one->first <= into.back().last)) return false;
    into.push_back(*one);
    goes_on = comma != text.npos;
    if (goes_on) text.remove_prefix(comma + 1);
  }
  return into.size() <= most_gaps + 1;
}

std::string producer_marks::text_of(const entry& each) {
  std::string text;
  for (const auto& one : each.second.processed) {
    if (!text.empty()) text.append(1, ',');
    text.append(std::to_string(one.first));
    if (one.last != one.first) text.append(1, '-').append(std::to_string(one.last));
  }
  return text.append(1, ' ').append(each.first);
}

std::vector<const producer_marks::entry*> producer_marks::by_move() const {
  std::vector<const entry*> all;
  for (const auto& each : marks_) all.push_back(&each);
  std::ranges::sort(all, {}, [](const entry* each) { return each->second.moved; });
  return all;
}

}  // namespace zkrecipes::detail
