#include "rabbitmq/queue_progress.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace zkrecipes::detail {

void delivery_tags::reset() { *this = delivery_tags(prefetch_); }

void delivery_tags::add(const delivery& what) {
  auto [at, is_new] = messages_.try_emplace(what.id);
  auto& whose = at->second;
  const bool may_be_second = !what.is_fresh && (!is_new || !what.is_named);
  if (is_new || may_be_second) {
    whose.round = ++last_round_;
    whose.sent = 0;
  }
  if (!may_be_second) ++counted_;
  whose.tags.push_back(what.tag);
  whose.is_settled = false;
  open_.emplace(what.tag, what.id);
  if (!what.is_fresh) return;
  has_fresh_ = true;
  prove();
}

bool delivery_tags::holds(const std::string& id) const {
  const auto found = messages_.find(id);
  return found != messages_.end() && !found->second.tags.empty() && !found->second.is_settled;
}

std::vector<std::string> delivery_tags::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, each] : messages_) all.push_back(id);
  return all;
}

void delivery_tags::settle(const std::string& id) {
  const auto found = messages_.find(id);
  if (found == messages_.end()) return;
  found->second.is_settled = true;
  settled_.insert(found->second.tags.begin(), found->second.tags.end());
}

/// One that means all before it, as far as all before it are settled, and one for each of the others.
std::vector<delivery_tags::acknowledgement> delivery_tags::take_acknowledgements() {
  std::vector<acknowledgement> all;
  if (settled_.empty()) return all;
  std::vector<std::uint64_t> tags;
  auto end = open_.begin();
  for (; end != open_.end() && settled_.contains(end->first); ++end) tags.push_back(end->first);
  if (!tags.empty()) all.push_back({tags.back(), tags.size() > 1});
  for (auto each = settled_.lower_bound(tags.empty() ? 0 : tags.back() + 1); each != settled_.end(); ++each) {
    tags.push_back(*each);
    all.push_back({*each, false});
  }
  for (const auto each : tags) acknowledge(each);
  settled_.clear();
  return all;
}

void delivery_tags::acknowledge(std::uint64_t tag) {
  const auto found = open_.find(tag);
  auto& whose = messages_.at(found->second);
  std::erase(whose.tags, tag);
  ++whose.sent;
  sent_.push_back({std::move(found->second), whose.round});
  open_.erase(found);
}

void delivery_tags::prove() {
  while (proven_ + prefetch_ < counted_ && !sent_.empty()) prove_first();
}

void delivery_tags::prove_first() {
  const auto first = std::move(sent_.front());
  sent_.pop_front();
  ++proven_;
  const auto found = messages_.find(first.id);
  if (found == messages_.end() || found->second.round != first.round) return;
  --found->second.sent;
  if (found->second.sent > 0 || !found->second.tags.empty()) return;
  messages_.erase(found);
  news_.push_back(first.id);
}

std::vector<std::string> delivery_tags::take_proven() { return std::exchange(news_, {}); }

namespace {

/// FNV-1a of 64 bits.
void add_to_hash(std::uint64_t& hash, std::string_view bytes) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const auto each : bytes) hash = (hash ^ static_cast<unsigned char>(each)) * prime;
}

}  // namespace

std::uint64_t unnamed_message::hash_of(const amqp_delivery& what) {
  std::uint64_t hash = 0xcbf29ce484222325;
  add_to_hash(hash, std::to_string(what.key.size()) + ' ');
  add_to_hash(hash, what.key);
  add_to_hash(hash, what.data);
  return hash;
}

std::string unnamed_message::name(std::uint64_t copy) const {
  char digits[16];
  const auto written = std::to_chars(digits, digits + sizeof digits, hash_, 16);
  return '_' + std::string(digits, written.ptr) + '-' + std::to_string(copy);
}

void queue_progress::open(delivery_memory stored) {
  lose();
  memory_ = std::move(stored);
  in_hand_.clear();
  firsts_.clear();
  problems_.clear();
  unnamed_ = 0;
  is_ambiguous_ = false;
}

void queue_progress::lose() {
  tags_.reset();
  unnamed_waiting_ = 0;
  last_.clear();
  const auto is_not_in_hand = [this](const auto& each) { return !in_hand_.contains(each.first); };
  std::erase_if(firsts_, is_not_in_hand);
  std::erase_if(problems_, is_not_in_hand);
}

std::optional<std::string> queue_progress::take(const amqp_delivery& what) {
  const bool is_named = !what.id.empty();
  const bool is_fresh = !what.is_redelivered;
  const bool is_first_fresh = is_fresh && !tags_.has_fresh();
  const bool comes_again = !is_fresh && tags_.has_fresh();  // what was returned before has come already
  if (!is_named && comes_again && unnamed_ + unnamed_waiting_ > 0) is_ambiguous_ = true;
  auto name = is_named ? what.id : name_of(what);
  const bool is_here = tags_.holds(name) || in_hand_.contains(name);
  tags_.add({what.tag, name, is_fresh, is_named});
  for (const auto& each : tags_.take_proven()) memory_.forget(each);
  if (is_first_fresh) forget_old();
  const auto numbered = is_named && is_fresh ? parse_numbered_id(name) : std::nullopt;
  if (numbered) look_for_missing(*numbered, what.first);
  if (is_here) return std::nullopt;
  if (is_named && memory_.knows(name)) {
    tags_.settle(name);
    return std::nullopt;
  }
  if (!is_named) ++unnamed_waiting_;
  if (is_named && what.first > 0) firsts_[name] = what.first;
  problems_.erase(name);  // that of another message without an id
  if (!what.problem.empty()) problems_.emplace(name, what.problem);
  return name;
}

std::string queue_progress::problem_of(const std::string& name) const {
  const auto found = problems_.find(name);
  return found == problems_.end() ? std::string() : found->second;
}

/// Before a fresh message all has come that was put in front of it, so a number in between was lost. A producer
/// that knows nothing of the numbers before this one gives its own as `first`.
void queue_progress::look_for_missing(const numbered_id& of, std::uint64_t first) {
  const auto [at, is_new] = last_.try_emplace({of.producer, of.epoch}, 0);
  const auto from = at->second + 1;
  const auto to = first > 0 && first <= of.number ? first - 1 : of.number - 1;
  at->second = std::max(at->second, of.number);
  const bool is_forgotten = is_new && !memory_.runs().find(of) && memory_.runs().may_have_forgotten(of.producer);
  if (from > to) return;
  if (first == of.number || is_forgotten) return memory_.record_unknown(of, from, to, open_numbers(of));
  auto lost = memory_.record_missing(of, from, to, open_numbers(of));
  if (!lost.empty()) missing_.push_back(std::move(lost));
}

settled_run queue_progress::open_numbers(const numbered_id& of) const {
  settled_run open;
  auto ids = tags_.ids();
  for (const auto& [id, is_named] : in_hand_) ids.push_back(id);
  for (const auto& each : ids) {
    const auto numbered = parse_numbered_id(each);
    if (!numbered || numbered->producer != of.producer || numbered->epoch != of.epoch) continue;
    const auto told = firsts_.find(each);  // it stands for the numbers from there on, too
    open.add(told == firsts_.end() ? numbered->number : std::min(told->second, numbered->number), numbered->number);
  }
  return open;
}

std::string queue_progress::name_of(const amqp_delivery& what) const {
  const unnamed_message unnamed(what);
  for (std::uint64_t copy = 1;; ++copy) {
    auto name = unnamed.name(copy);
    if (!tags_.holds(name) && !in_hand_.contains(name)) return name;
  }
}

/// What was returned to the queue before this connection has come in front of the first fresh message. What has not is
/// not in the queue any more.
void queue_progress::forget_old() {
  forget_if_gone(memory_.names());
  forget_if_gone(memory_.failed_names());
}

void queue_progress::forget_if_gone(const std::vector<std::string>& names) {
  for (const auto& each : names) {
    if (!tags_.is_open(each) && !in_hand_.contains(each)) memory_.forget(each);
  }
}

void queue_progress::hand_out(const std::string& name, bool is_named) {
  in_hand_.emplace(name, is_named);
  if (is_named) return;
  ++unnamed_;
  --unnamed_waiting_;
}

bool queue_progress::can_come(const std::string& name) const {
  if (!tags_.has_fresh()) return true;
  return in_hand_.contains(name) || tags_.holds(name);
}

void queue_progress::apply(delivery_memory& to, const std::string& name) const {
  const auto found = in_hand_.find(name);
  const bool is_named = found == in_hand_.end() || found->second;
  const auto first = firsts_.find(name);
  if (is_named) to.settle(name, first == firsts_.end() ? 0 : first->second);
  if (!is_named) to.settle_unnamed(name);
}

void queue_progress::settle(const std::string& name) {
  apply(memory_, name);
  firsts_.erase(name);
  problems_.erase(name);
  const auto found = in_hand_.find(name);
  if (found != in_hand_.end()) {
    if (!found->second) --unnamed_;
    in_hand_.erase(found);
  }
  const bool has_come = tags_.holds(name);
  if (has_come) tags_.settle(name);
  // Handed out by an earlier connection, and not among what was returned: it has gone from the queue.
  if (!has_come && tags_.has_fresh()) memory_.forget(name);
}

}  // namespace zkrecipes::detail
