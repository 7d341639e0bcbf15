#include "delivery/delivery_repeats.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "format/shown_text.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

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

using backend::opcode;

namespace {

bool has_succeeded(const message_in_hand& which) {
  const bool has_ended = which.at == message_in_hand::stage::finished || which.at == message_in_hand::stage::committing;
  return has_ended && which.outcome.what() == message_outcome::kind::done;
}

}  // namespace

delivery_repeats::delivery_repeats(core_ptr session, const delivery_frame& frame)
    : session_(std::move(session)),
      how_(frame.options.repeats),
      order_(frame.options.order),
      path_(how_ ? frame.source->place_of_marks() : std::string()),
      pause_(session_->backoff()) {}

awaitable<error_code> delivery_repeats::prepare() {
  if (!is_used() || is_known_) co_return error_code();
  co_return co_await read();
}

awaitable<error_code> delivery_repeats::look_again() {
  is_known_ = false;
  co_return co_await prepare();
}

awaitable<error_code> delivery_repeats::answer_refusal(error_code why) {
  if (!is_write_conflict(why)) co_return why;
  must_make_folder_ = why == errc::no_node && !version_;
  co_return co_await look_again();
}

awaitable<error_code> delivery_repeats::rest() {
  const bool rested = co_await session_->rest(pause_);
  co_return rested || session_->over() ? error_code() : make_error_code(asio::error::operation_aborted);
}

awaitable<error_code> delivery_repeats::read() {
  for (;;) {
    std::vector<backend::request> what{make_request(opcode::get, path_)};
    auto replies = co_await session_->perform_all(std::move(what));
    auto& node = replies.front();
    auto error = node.error;
    if (is_untold(error)) {
      const bool is_refused = is_server_refusal(error);
      if (is_refused) error = co_await rest();
      if (!is_refused && may_have_happened(error)) error = co_await session_->wait_connected(nullptr, never);
      if (error) co_return error;
      continue;
    }
    pause_.reset();
    const bool is_missing = error == errc::no_node;
    if (error && !is_missing) co_return error;
    auto stored = is_missing ? producer_marks() : producer_marks::parse(node.data);
    if (!stored) co_return errc::foreign_data;
    marks_ = std::move(*stored);
    version_ = is_missing ? std::nullopt : std::optional(node.stat.version);
    is_known_ = true;
    co_return error_code();
  }
}

std::string delivery_repeats::take_origin(message_in_hand& next) const {
  next.origin.reset();
  next.is_repeat = false;
  next.parks_alone = is_used();
  if (!is_used()) return {};
  try {
    auto origin = how_->origin(*next.what);
    const auto length = origin ? origin->producer.size() : 1;
    if (length == 0 || length > producer_marks::longest_name) return "the name of its producer has not 1 to 255 bytes";
    const auto producer = origin ? std::string_view(origin->producer) : std::string_view();
    if (order_ == message_order::by_key && producer != next.lane)
      return "its producer has changed since it was received";
    next.origin = std::move(origin);
  } catch (const std::exception& failure) {
    return std::string("message_repeats::origin has failed: ") + failure.what();
  } catch (...) {
    return "message_repeats::origin has failed";
  }
  next.parks_alone = false;
  return {};
}

/// By key nothing in front of the message is processed and not committed.
bool delivery_repeats::is_repeat(const message_in_hand& next, const delivery_window& window) {
  if (!next.origin) return false;
  if (marks_.has_processed(*next.origin)) return true;
  if (order_ != message_order::strict) return false;
  drop_old_firsts(window);
  auto [first, is_new] = firsts_.try_emplace({next.origin->producer, next.origin->number}, next.number);
  if (!is_new && first->second < next.number && is_first(first->first, first->second, window)) return true;
  first->second = next.number;
  return false;
}

bool delivery_repeats::is_first(const numbered& which, std::uint64_t in_window, const delivery_window& window) const {
  const auto* found = find_message(window.all(), in_window);
  if (!found || !found->origin || !has_succeeded(*found)) return false;
  return found->origin->producer == which.first && found->origin->number == which.second;
}

void delivery_repeats::drop_old_firsts(const delivery_window& window) {
  if (firsts_.size() <= 2 * window.all().size() + 16) return;
  std::erase_if(firsts_, [&](const auto& each) { return !find_message(window.all(), each.second); });
}

awaitable<error_code> delivery_repeats::begin_commit() {
  has_moved_ = has_repeats_ = false;
  forgotten_ = 0;
  if (!is_used()) co_return error_code();
  auto error = co_await prepare();
  if (!error && must_make_folder_) {
    error = co_await session_->ensure_path(std::string(parent_of(path_)));
    must_make_folder_ = static_cast<bool>(error);
  }
  next_ = marks_;
  old_version_ = version_;
  co_return error;
}

bool delivery_repeats::confirm(message_in_hand& next) const {
  if (!next.origin) return true;
  const bool is_processed = next_.has_processed(*next.origin);
  if (next.is_repeat || !is_processed) return is_processed == next.is_repeat;
  next.is_repeat = true;
  next.outcome = message_outcome::done();
  return true;
}

void delivery_repeats::record(const message_in_hand& which, settlement::kind how) {
  if (!which.origin || how != settlement::kind::remove) return;
  if (which.is_repeat) {
    has_repeats_ = true;
  } else {
    next_.record_processed(*which.origin);
    has_moved_ = true;
  }
}

transaction delivery_repeats::moving() {
  transaction all;
  if (!has_moved_ && has_repeats_ && old_version_) return all.check(path_, *old_version_);
  if (!has_moved_) return all;
  forgotten_ = next_.forget(how_->most_producers);
  auto text = next_.to_text();
  return old_version_ ? all.set(path_, std::move(text), *old_version_) : all.create(path_, std::move(text));
}

std::size_t delivery_repeats::committed() {
  if (!has_moved_) return 0;
  marks_ = std::move(next_);
  version_ = old_version_ ? *old_version_ + 1 : 0;
  return forgotten_;
}

}  // namespace zkrecipes::detail
