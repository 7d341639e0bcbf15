#include "queue/queue_layout.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include "format/json_object.hpp"
#include "line/line_spec.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view letter_kind = "dead_letter";
constexpr std::size_t longest_reason = 1000;
constexpr auto most_attempts = std::numeric_limits<std::int32_t>::max();
constexpr auto most_missing = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::string write_letter(const dead_letter& letter) {
  auto about = json_object::of_kind(letter_kind);
  about.set("item", letter.item).set("attempts", letter.attempts);
  about.set("reason", std::string_view(letter.reason).substr(0, longest_reason));
  if (!letter.key.empty()) about.set("key", letter.key);
  if (letter.epoch != 0) {  // from a queue consumer
    about.set("epoch", letter.epoch);
    about.set("first_failed_ms", letter.first_failed).set("last_failed_ms", letter.last_failed);
  }
  if (letter.missing_bytes != 0) about.set("missing_bytes", static_cast<std::int64_t>(letter.missing_bytes));
  return (about.to_text() + '\n').append(letter.data);
}

std::optional<dead_letter> read_letter(std::string_view text) {
  const auto end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const auto about = json_object::parse(text.substr(0, end));
  const bool is_letter = about && (about->is(letter_kind) || !about->is_marked());  // older versions made no mark
  auto item = is_letter ? about->text("item") : std::nullopt;
  const auto attempts = is_letter ? about->integer("attempts", 0, most_attempts) : std::nullopt;
  auto reason = is_letter ? about->text("reason") : std::nullopt;
  if (!item || !attempts || !reason) return std::nullopt;
  const auto missing = about->has("missing_bytes") ? about->integer("missing_bytes", 0, most_missing) : 0;
  if (!missing) return std::nullopt;  // it must not be taken for whole
  dead_letter letter;
  letter.item = std::move(*item);
  letter.attempts = static_cast<std::int32_t>(*attempts);
  letter.reason = std::move(*reason);
  letter.data = text.substr(end + 1);
  letter.key = about->text("key").value_or(std::string());
  letter.epoch = about->integer("epoch").value_or(0);
  letter.first_failed = about->integer("first_failed_ms").value_or(0);
  letter.last_failed = about->integer("last_failed_ms").value_or(0);
  letter.missing_bytes = static_cast<std::uint64_t>(*missing);
  return letter;
}

namespace {

constexpr std::string_view mark_kind = "parked_key";
constexpr std::size_t longest_key = 1000;
constexpr std::string_view any_letter = "-letter-";
constexpr std::size_t mark_length = 36;
/// The name space of the UUIDs. Every version of the library has to use this one.
constexpr const char* name_space = "6f0f5b64-3a0e-4a5e-9c4b-0f4d3f6a7d11";

}  // namespace

std::string mark_of(std::string_view key) {
  boost::uuids::name_generator_sha1 generate(boost::uuids::string_generator()(name_space));
  return to_string(generate(key.data(), key.size()));
}

bool is_mark(std::string_view name) {
  if (name.size() != mark_length) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool is_digit = std::string_view("0123456789abcdef").find(name[i]) != std::string_view::npos;
    if (is_dash ? name[i] != '-' : !is_digit) return false;
  }
  return true;
}

std::string letters_of(std::string_view mark) { return std::string(mark).append(any_letter); }

std::string_view mark_of_letter(std::string_view letter) {
  const auto mark = letter.substr(0, mark_length);
  return is_mark(mark) && letter.substr(mark_length).starts_with(any_letter) ? mark : std::string_view();
}

std::string shown_key(std::string_view key) { return std::string(key.substr(0, longest_key)); }

std::string write_mark(std::string_view key) {
  return json_object::of_kind(mark_kind).set("key", shown_key(key)).to_text();
}

std::optional<std::string> read_mark(std::string_view text) {
  const auto read = json_object::parse(text);
  return read && read->is(mark_kind) ? read->text("key") : std::nullopt;
}

namespace {

constexpr std::string_view attempt_name = "_attempt";

}  // namespace

std::int32_t attempts_of(const node_stat& item) {
  const auto claimed = (item.cversion + item.num_children) / 2;
  return std::max(claimed - item.version, 0);
}

void count_attempts(transaction& all, const std::string& item, std::int32_t so_many) {
  for (std::int32_t i = 0; i < so_many; ++i) all.create(join(item, attempt_name)).remove(join(item, attempt_name));
}

bool goes_first(const entry& a, const entry& b) {
  return a.rank != b.rank ? a.rank < b.rank : before(a.sequence, b.sequence);
}

namespace {

constexpr std::string_view fifo_marker = "qn-";         // as Curator's SimpleDistributedQueue
constexpr std::string_view priority_marker = "entry-";  // as kazoo's Queue
constexpr std::string_view delayed_marker = "at-";

/// Splits a name with a rank of `digits` digits: the marker (with the rank in it), and the rank. Nothing if it has
/// none.
std::optional<std::pair<std::string_view, std::int64_t>> ranked(std::string_view name, std::string_view before,
                                                                std::size_t digits) {
  const auto length = before.size() + digits + 1;
  if (!name.starts_with(before) || name.size() < length || name[length - 1] != '-') return std::nullopt;
  std::int64_t rank = 0;
  const auto* begin = name.data() + before.size();
  auto [end, error] = std::from_chars(begin, begin + digits, rank);
  if (error != std::errc() || end != begin + digits || rank < 0) return std::nullopt;
  return std::pair(name.substr(0, length), rank);
}

std::string padded(std::string_view before, int digits, std::int64_t rank) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*lld-", digits, static_cast<long long>(rank));
  return std::string(before) + text;
}

constexpr int priority_digits = 3;
constexpr int time_digits = 16;

}  // namespace

queue_layout::queue_layout(queue_kind what, std::string path)
    : kind(what),
      items(std::move(path)),
      // kazoo's Queue takes every child for an item, so all other nodes stand in a folder of their own.
      side(kind == queue_kind::priority ? (items == "/" ? "/-side" : items + "-side") : items) {}

std::string queue_layout::claim(std::string_view name) const { return on_side(std::string(claim_prefix).append(name)); }

std::string queue_layout::marker(std::int64_t rank) const {
  if (kind == queue_kind::priority) return padded(priority_marker, priority_digits, rank);
  if (kind == queue_kind::delayed) return padded(delayed_marker, time_digits, rank);
  return std::string(fifo_marker);
}

std::optional<entry> queue_layout::parse(std::string_view name) const {
  auto found = std::optional(std::pair(fifo_marker, std::int64_t{0}));
  if (kind == queue_kind::priority) found = ranked(name, priority_marker, priority_digits);
  if (kind == queue_kind::delayed) found = ranked(name, delayed_marker, time_digits);
  if (!found || !name.starts_with(found->first)) return std::nullopt;
  const std::string_view markers[] = {found->first};
  auto sequence = parse_sequence(name, markers);
  if (!sequence) return std::nullopt;
  return entry{std::string(name), found->second, *sequence};
}

std::vector<entry> queue_layout::items_of(const std::vector<std::string>& children) const {
  std::vector<entry> all;
  for (const auto& name : children) {
    if (auto one = parse(name)) all.push_back(std::move(*one));
  }
  if (all.empty()) return all;
  // Numbers wrap, so they are compared by their distance from the smallest: see `members_of`.
  auto smaller = [](const entry& a, const entry& b) { return a.sequence < b.sequence; };
  const auto origin = static_cast<std::uint32_t>(std::min_element(all.begin(), all.end(), smaller)->sequence);
  auto place = [origin](const entry& each) {
    return std::pair(each.rank, static_cast<std::int32_t>(static_cast<std::uint32_t>(each.sequence) - origin));
  };
  std::sort(all.begin(), all.end(), [&](const entry& a, const entry& b) { return place(a) < place(b); });
  return all;
}

bool queue_layout::is_known(std::string_view name) const {
  for (auto ours : {idle_folder, dead_folder, parked_folder, gate_name, clock_name, marks_name}) {
    if (name == ours) return true;
  }
  for (auto ours : {claim_prefix, return_prefix, producer_prefix}) {
    if (name.starts_with(ours)) return true;
  }
  return false;
}

bool queue_layout::is_strange(const std::vector<std::string>& children) const {
  const auto is_ours = [this](const std::string& name) { return parse(name) || is_known(name); };
  return std::ranges::none_of(children, is_ours) && !strangers_among(children, {}).empty();
}

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr auto lasting = 60s;
/// The slowest pace that is believed. Clocks differ by less, unless somebody sets one: then an item comes late by at
/// most about 2 % of the wait.
constexpr double slowest = 0.98;

}  // namespace

awaitable<error_code> server_clock::learn() {
  const auto& session = frame_->session;
  const auto path = frame_->where.on_side(clock_name);
  while (!is_known()) {
    auto error = co_await session->wait_connected(nullptr, never);
    if (error) co_return error;
    const auto sent = session->now();
    auto write = make_request(backend::opcode::set, path);
    auto written = co_await session->perform(std::move(write), retry::once);
    if (written.error == errc::no_node) {
      error = co_await session->ensure_path(path);
      if (error) co_return error;
    } else if (written.error && !may_have_happened(written.error)) {
      co_return written.error;
    } else if (!written.error) {
      observe(written.stat.mtime, sent, session->now());
    }
  }
  co_return error_code();
}

void server_clock::observe(std::int64_t stamp, lease_clock::time_point sent, lease_clock::time_point answered) {
  pace_ = pace(stamp, sent);
  stamp_ = stamp;
  sent_ = sent;
  answered_ = answered;
  connection_ = frame_->session->counters().connects;
}

/// Since the last stamp at least `ours` has passed on our clock, and on the leader's clock at most a millisecond more
/// than the stamps show. So this ratio is the most that the leader's pace can be.
double server_clock::pace(std::int64_t stamp, lease_clock::time_point sent) const {
  const bool is_same_leader = connection_ == frame_->session->counters().connects;
  const auto ours = std::chrono::duration<double, std::milli>(sent - answered_).count();
  if (!is_same_leader || ours < 1) return 1;
  return std::clamp(static_cast<double>(stamp + 1 - stamp_) / ours, slowest, 1.0);
}

bool server_clock::is_known() const {
  return connection_ != 0 && connection_ == frame_->session->counters().connects &&
         frame_->session->now() - answered_ < lasting;
}

std::int64_t server_clock::earliest() const {
  return stamp_ + std::chrono::floor<milliseconds>((frame_->session->now() - answered_) * pace_).count();
}

std::int64_t server_clock::latest() const {
  return stamp_ + std::chrono::ceil<milliseconds>(frame_->session->now() - sent_).count();
}

lease_clock::time_point server_clock::when(std::int64_t shown) const {
  const auto ahead = std::clamp<std::int64_t>(shown - stamp_, 0, milliseconds(lasting).count());
  return answered_ + std::chrono::ceil<milliseconds>(milliseconds(ahead) / pace_);
}

}  // namespace zkrecipes::detail
