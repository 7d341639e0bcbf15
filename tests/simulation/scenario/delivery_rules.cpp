
#include "scenario/delivery_rules.hpp"

#include <algorithm>
#include <vector>

#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "queue/queue_layout.hpp"
#include "scenario/coordinator.hpp"
#include "topic/log_position.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::simulation {

using kind = change::kind;

namespace {

constexpr std::uint64_t keys = 3;

std::string key_of(const message& item) { return std::to_string(std::stoull(item.data) % keys); }

queue_consumer_options draw_options(std::uint64_t seed, bool is_topic) {
  chance draw(seed, 870);
  queue_consumer_options options;
  const auto promise = draw.below(8);
  if (promise == 6) options.delivery = delivery_guarantee::at_least_once;
  if (promise == 7) options.delivery = delivery_guarantee::at_most_once;
  options.order = static_cast<message_order>(draw.below(3));
  options.key = &key_of;
  options.window = draw.one_in(3) ? 1 : 2 + draw.below(12);
  if (options.order != message_order::strict) options.parallel = 1 + draw.below(options.window);
  options.retry.attempts = static_cast<std::int32_t>(1 + draw.below(4));
  options.retry.first = std::chrono::milliseconds(draw.below(300));
  options.retry.longest = options.retry.first + std::chrono::milliseconds(draw.below(1500));
  options.retry.outage = std::chrono::milliseconds(chance(seed, 876).below(500));
  chance more(seed, 873);
  const bool may_park_keys =
      !is_topic && options.order == message_order::by_key && options.delivery != delivery_guarantee::at_most_once;
  if (may_park_keys && more.one_in(2)) options.spent = spent_message::park_key;
  chance limits(seed, 874);
  if (options.delivery != delivery_guarantee::at_most_once && limits.one_in(3)) {
    options.limit = message_limit{.rate = 1, .per = limits.between(10ms, 700ms), .burst = 1 + limits.below(9)};
  }
  chance repeats(seed, 875);
  const bool may_repeat = options.order != message_order::none && options.delivery != delivery_guarantee::at_most_once;
  if (may_repeat && repeats.one_in(3)) {
    options.repeats = repeat_rules::option(seed);
    options.key = nullptr;  // it is the name of the producer, and so the same
  }
  return options;
}

}  // namespace

delivery_rules::delivery_rules(stage& in, const term_rules& terms, std::string election, std::string queue,
                               std::string results, bool is_topic)
    : in_(in),
      terms_(terms),
      election_(std::move(election)),
      queue_(std::move(queue)),
      results_(std::move(results)),
      is_topic_(is_topic),
      options_(draw_options(in.what().seed, is_topic)),
      probation_(in, std::max<std::size_t>(options_.window, 2)),
      limit_(in, options_.limit),
      repeats_(in, options_) {
  chance outage(in.what().seed, 877);
  if (outage.one_in(3)) {
    // Attempts that counted as fast as the messages are tried would be used up in it.
    options_.retry = {.first = 30ms, .longest = 60ms, .attempts = 6, .outage = 400ms};
    away_from_ = outage.between(in.what().faults_from, in.what().faults_until);
    away_until_ = away_from_ + outage.between(1s, 2s);
  }
  chance draw(in.what().seed, 871);
  if (!draw.one_in(5)) return;
  killer_ = 1 + draw.below(12);
  options_.retry.attempts = std::min(options_.retry.attempts, 2);  // each takes a time-out
}

trouble delivery_rules::of(const std::string& message) const {
  const auto number = std::stoull(message);
  if (number == killer_) return trouble::kills;
  chance draw(in_.what().seed * 1'000 + number, 872);
  if (!draw.one_in(5)) return trouble::none;
  return static_cast<trouble>(1 + draw.below(static_cast<std::uint64_t>(trouble::kills) - 1));
}

bool delivery_rules::is_away() const {
  const auto now = in_.clock().now();
  return away_from_ <= now && now < away_until_;
}

bool delivery_rules::is_item(const std::string& path) const {
  const auto prefix = queue_ + "/qn-";
  return path.starts_with(prefix) && path.find('/', prefix.size()) == path.npos;
}

std::uint64_t delivery_rules::number_of(const std::string& path) const {
  const auto found = numbers_.find(path);
  return found == numbers_.end() ? 0 : found->second;
}

bool delivery_rules::is_settled(std::uint64_t number) const {
  return done_.contains(number) || parked_.contains(number) || deleted_.contains(number) || removed_.contains(number);
}

void delivery_rules::committed(const entry& what) {
  if (what.type == entry::kind::request && what.session == 0) return record_operator(what);
  std::set<std::uint64_t> leaving;
  std::vector<std::string> effects;
  std::vector<std::string> letters;
  for (const auto& each : what.changes) {
    if (is_topic_) {
      if (each.type == kind::create) record_batch(each);
      if (each.type == kind::set) record_position(each, leaving);
      if (each.type == kind::remove) check_removal(each);
    } else {
      record_item(each, leaving);
    }
    if (each.type == kind::set && each.path == election_) record_names(each.data);
    if (each.type == kind::set && each.path == results_) effects.push_back(each.data);
    const bool is_letter = each.path.starts_with(queue_ + "/_dead/") && each.path.find("letter-") != each.path.npos;
    if (each.type == kind::create && is_letter) letters.push_back(each.data);
  }
  std::map<std::uint64_t, std::string> settled;  // in order of their numbers, because they happen together
  for (const auto& each : effects) settled[std::stoull(each.substr(each.find(' ') + 1))] = each;
  for (const auto& each : letters) settled[std::stoull(each.substr(each.find('\n') + 1))] = each;
  in_.require(settled.size() == effects.size() + letters.size(), "once in effect, or parked, never both");
  for (const auto& [number, text] : settled) {
    in_.require(leaving.contains(number), "a message leaves the queue with its effect, or as a letter", text);
  }
  for (const auto number : leaving) {
    // A batch of a topic that somebody has removed is passed over, unless it was in hand already.
    const bool is_gone = is_topic_ && deleted_.contains(number);
    const bool has_no_effects = options_.delivery == delivery_guarantee::at_least_once;
    if (is_gone && has_no_effects && begun_.contains(number)) repeats_.may_be_done(number);
    if (is_gone && !settled.contains(number)) continue;
    if (is_gone) deleted_.erase(number);
    check_departure(number, settled[number]);
  }
}

void delivery_rules::record_item(const change& what, std::set<std::uint64_t>& leaving) {
  if (what.type == kind::create && numbers_.contains(what.path)) {
    record_revived(what);
  } else if (what.type == kind::create && is_item(what.path)) {
    ++produced_;
    in_.require(what.data == std::to_string(produced_), "produced once and in order", what.data);
    numbers_[what.path] = produced_;
  }
  if (what.type == kind::set && is_item(what.path)) check_attempts(what);
  if (what.type == kind::remove && is_item(what.path)) leaving.insert(number_of(what.path));
}

/// A message is removed, together with this letter or effect; empty: with neither.
void delivery_rules::check_departure(std::uint64_t number, const std::string& with) {
  const auto name = std::to_string(number);
  in_.require(!is_settled(number), "a message leaves the queue once", name);
  if (with.empty() && repeats_.may_be_repeat(number)) return count_repeat(number);
  probation_.settled();
  if (with.starts_with('{')) return check_letter(with);
  if (options_.delivery == delivery_guarantee::effectively_once) {
    in_.require(!with.empty(), "a message leaves the queue with its effect, or as a letter", name);
    if (!with.empty()) check_effect(with);
  } else if (options_.delivery == delivery_guarantee::at_most_once) {
    in_.require(!begun_.contains(number), "at most once: removed before it is processed", name);
    removed_.insert(number);
  } else {
    in_.require(begun_.contains(number), "at least once: processed before it is removed", name);
    check_order(number);
    check_key(number);
    repeats_.done(number);
    done_.insert(number);
  }
}

/// It leaves without an effect, also if its key is parked. It was not tried, so a search for a message that kills goes
/// on.
void delivery_rules::count_repeat(std::uint64_t number) {
  if (options_.spent != spent_message::park_key) check_order(number);
  done_.insert(number);
}

/// A parked message is in its old place again.
void delivery_rules::record_revived(const change& what) {
  const auto number = number_of(what.path);
  in_.require(what.data == std::to_string(number), "a message comes back as it was", what.data);
  in_.require(parked_.erase(number) == 1, "only a parked message comes back", what.data);
  attempts_.erase(number);
}

/// Somebody removes a message.
void delivery_rules::record_operator(const entry& what) {
  for (const auto& each : what.changes) {
    const auto number = each.type == kind::remove ? number_of(each.path) : 0;
    if (number != 0) deleted_.insert(number);
    if (is_topic_ && each.type == kind::remove) record_lost_batch(each.path);
  }
}

void delivery_rules::record_names(const std::string& record) {
  const auto read = detail::parse_record(record);
  if (!read) return;
  probation_.recorded(*read);
  for (const auto& each : detail::read_notes(read->notes).in_hand) named_.insert(number_of(queue_ + '/' + each));
}

/// An attempt is counted: the message was begun, or was about to be when the process died.
void delivery_rules::check_attempts(const change& what) {
  const auto number = number_of(what.path);
  probation_.counted(what.path.substr(queue_.size() + 1));
  in_.require(begun_.contains(number) || named_.contains(number),
              "no attempt is counted of a message that was not handed out", what.path);
}

void delivery_rules::check_effect(const std::string& text) {
  const auto space = text.find(' ');
  const auto epoch = std::stoll(text.substr(0, space));
  const auto number = std::stoull(text.substr(space + 1));
  in_.require(options_.delivery == delivery_guarantee::effectively_once, "no effects of a message that takes none",
              text);
  in_.require(!done_.contains(number) && !parked_.contains(number) && !deleted_.contains(number),
              "once in effect, or parked, never both", text);
  in_.require(epoch == terms_.epoch() && !terms_.is_finished(), "effects belong to the present term", text);
  check_order(number);
  check_key(number);
  repeats_.done(number);
  done_.insert(number);
}

bool delivery_rules::is_behind_parked(std::uint64_t number) const {
  if (options_.spent != spent_message::park_key) return false;
  return std::ranges::any_of(parked_, [&](auto each) { return each < number && each % keys == number % keys; });
}

void delivery_rules::check_key(std::uint64_t number) {
  in_.require(!is_behind_parked(number), "the messages of a parked key wait", std::to_string(number));
}

/// The messages in front of it, of its key or all, are settled before it.
void delivery_rules::check_order(std::uint64_t number) {
  if (options_.order == message_order::none) return;
  for (std::uint64_t before = 1; before < number; ++before) {
    const bool counts = options_.order == message_order::strict || before % keys == number % keys;
    if (counts)
      in_.require(is_settled(before), "in order", std::to_string(before) + " before " + std::to_string(number));
  }
}

void delivery_rules::check_letter(const std::string& text) {
  const auto letter = detail::read_letter(text);
  in_.require(letter.has_value(), "a letter can be read", text);
  if (!letter) return;
  const auto number = std::stoull(letter->data);
  const auto trouble_of_it = of(letter->data);
  in_.require(!done_.contains(number) && !parked_.contains(number), "once in effect, or parked, never both", text);
  const bool is_spent = letter->attempts == options_.retry.attempts;
  const bool is_behind = is_behind_parked(number);
  in_.require(is_spent || is_behind || trouble_of_it == trouble::is_parked, "a message is parked after its attempts",
              text);
  const bool passes = trouble_of_it == trouble::none || trouble_of_it == trouble::throws_at_first ||
                      trouble_of_it == trouble::asks_again || trouble_of_it == trouble::holds_off;
  const bool is_told_apart = away_until_ > away_from_ && killer_ == 0 && !begun_alone_.contains(number);
  const bool has_stalled = letter->reason.find("stall_limit") != letter->reason.npos;  // on a slow way to the servers
  in_.require(!passes || is_behind || !is_told_apart || has_stalled, "no dead letter by an outage", text);
  // Any message may be in hand when its process is killed, so any may use its attempts up if there are few.
  in_.require(begun_.contains(number) || named_.contains(number) || is_behind, "nothing is parked untried", text);
  check_order(number);
  repeats_.tried(number);
  parked_.insert(number);
  ++parkings_;
}

int delivery_rules::begun(const term& present, const message& item) {
  const auto number = std::stoull(item.data);
  in_.require(!present.ending(), "nothing is begun after the end of the term", item.data);
  in_.require(item.attempts <= options_.retry.attempts, "attempts keep to their limit", item.data);
  // A term whose node an operator has removed may begin what it has in hand, until it hears of its successor.
  const bool is_present = present.epoch() == terms_.epoch();
  if (is_present) {
    in_.require(item.attempts >= attempts_[number], "attempts never fall", item.data);
    attempts_[number] = item.attempts;
  }
  // Until a third one fails, nothing tells an outage from messages that can not be processed.
  if (is_away() && begun_away_.insert(number).second && begun_away_.size() < 3) begun_alone_.insert(number);
  if (terms_.overwritten() > 0) limit_.forgive();
  if (is_present) limit_.begun(item.data);
  if (is_present && terms_.overwritten() == 0) repeats_.tried(number);
  if (options_.order == message_order::by_key || options_.window == 1) check_order(number);
  if (is_present) check_key(number);
  if (options_.delivery == delivery_guarantee::at_most_once) {
    in_.require(removed_.contains(number) || deleted_.contains(number), "at most once: removed before it is processed",
                item.data);
    const bool is_again = of(item.data) == trouble::holds_off;
    in_.require(!begun_.contains(number) || is_again, "at most once: processed once", item.data);
  }
  return ++begun_[number];
}

bool delivery_rules::all_settled() const {
  for (std::uint64_t number = 1; number <= produced_; ++number) {
    if (!is_settled(number)) return false;
  }
  return true;
}

void delivery_rules::check_quiet() const {
  in_.require(all_settled(), "no message lost",
              std::to_string(produced_) + " produced, " + std::to_string(settled()) + " settled");
}

// What a topic's batches and its position tell of the messages.
namespace {

/// The batch of the topic's only shard at this path.
std::optional<detail::batch_name> batch_of(const std::string& path) {
  const std::string folder = std::string(service::shard_path) + '/';
  return path.starts_with(folder) ? detail::parse_batch_name(std::string_view(path).substr(folder.size()))
                                  : std::nullopt;
}

}  // namespace

void delivery_rules::record_batch(const change& what) {
  const auto batch = batch_of(what.path);
  if (!batch) return;
  const auto content = detail::unpack(what.data);
  in_.require(content && content->size() == batch->count, "a batch is what its name says", what.path);
  for (std::uint32_t i = 0; content && i < content->size(); ++i) {
    ++produced_;
    in_.require((*content)[i].second == std::to_string(produced_), "produced once and in order", what.path);
    const detail::message_place where{batch->number, i};
    places_[produced_] = where;
    numbers_[queue_ + '/' + message_name(where)] = produced_;
    batches_[batch->number].insert(produced_);
  }
}

/// Messages leave the topic, for the group, when its position moves behind them.
void delivery_rules::record_position(const change& what, std::set<std::uint64_t>& leaving) {
  if (what.path != std::string(service::shard_path) + "/_at/" + service::group) return;
  const auto position = detail::parse_position(what.data);
  in_.require(position.has_value(), "a position can be read", what.data);
  if (!position) return;
  for (const auto& [number, where] : places_) {
    if (position->is_settled(where)) {
      if (behind_.insert(number).second) leaving.insert(number);
    } else {
      in_.require(!behind_.contains(number), "a position never moves back", what.data);
    }
  }
  for (const auto& [where, attempts] : position->failed) {
    const auto path = queue_ + '/' + message_name(where);
    auto& known = failed_[number_of(path)];
    in_.require(attempts.count <= known + 1, "attempts are counted one by one", what.data);
    change counted;
    counted.path = path;
    if (attempts.count > known) check_attempts(counted);
    known = attempts.count;
  }
}

void delivery_rules::check_removal(const change& what) {
  const auto batch = batch_of(what.path);
  if (!batch) return;
  for (const auto number : batches_[batch->number]) {
    in_.require(behind_.contains(number), "a batch is removed when it is consumed", what.path);
  }
  batches_.erase(batch->number);
}

/// An operator has removed a batch.
void delivery_rules::record_lost_batch(const std::string& path) {
  const auto batch = batch_of(path);
  if (!batch) return;
  for (const auto number : batches_[batch->number]) {
    if (!behind_.contains(number)) deleted_.insert(number);
  }
  batches_.erase(batch->number);
}

namespace {

/// A term whose lease ends in between can begin its probation anew, so the limit leaves room for that.
constexpr std::size_t most_probations = 3;

}  // namespace

void probation_rules::recorded(const detail::term_record& record) {
  const bool is_new_term = record.epoch != epoch_;
  if (is_new_term) {
    settled_ = 0;
    named_.clear();
  }
  epoch_ = record.epoch;
  const auto notes = detail::read_notes(record.notes);
  const auto doublings = std::clamp(notes.crashes - 2, 0, 12);
  const auto most = most_probations * (length_ << doublings);
  for (const auto& each : notes.in_hand) {
    const bool is_new = named_.insert(each).second && !is_new_term && !counted_.contains(each);
    in_.require(!is_new || settled_ < most, "probation ends", each);
  }
}

}  // namespace zkrecipes::simulation
