#include "external/delivery_memory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace zkrecipes::detail {

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
