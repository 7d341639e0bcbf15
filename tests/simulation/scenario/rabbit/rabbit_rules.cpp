#include "scenario/rabbit/rabbit_rules.hpp"

#include <algorithm>

#include <zkrecipes/consumer/shard.hpp>

#include "queue/queue_layout.hpp"
#include "rabbitmq/rabbit_frame.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::simulation {

using kind = change::kind;

namespace {

constexpr span recent_consumers = 30s;
constexpr std::uint64_t most_numbers = 10'000;  // of a producer in one run
constexpr const char* letter_folder = "/rabbit/_dead/consumers/";

const detail::source_layout& layout() {
  static const detail::source_layout where{"/rabbit"};
  return where;
}

/// "q:1"
std::uint32_t shard_of_queue(const std::string& queue) {
  return static_cast<std::uint32_t>(std::stoul(queue.substr(queue.find(':') + 1)));
}

std::uint64_t serial_of(const std::string& data) { return std::stoull(data.substr(data.find(' ') + 1)); }

}  // namespace

rabbit_rules::rabbit_rules(stage& in, const queue_consumer_options& options, const rabbit_options& broker,
                           const std::array<term_rules, rabbit_shards>& terms)
    : in_(in), options_(options), broker_(broker), terms_(terms) {
  chance draw(in.what().seed, 1'971);
  constexpr const char* publishers[] = {"a ", "i ", "u "};
  if (has_killer(in.what().seed)) killer_ = publishers[draw.below(3)] + std::to_string(1 + draw.below(8));
}

std::string rabbit_rules::election_path(std::uint32_t shard) { return "/consumer-" + std::to_string(shard); }
std::string rabbit_rules::result_path(std::uint32_t shard) { return "/result-" + std::to_string(shard); }
std::string rabbit_rules::memory_path(std::uint32_t shard) {
  return layout().position(shard, rabbit_queues::queue_group);
}

void rabbit_rules::queued(const std::string& queue, const rabbit_message& what) {
  const auto shard = shard_of_queue(queue);
  const auto& id = what.what.id;
  const auto& key = what.what.key;
  const auto& data = what.what.data;
  auto [found, is_new] = fates_.try_emplace(data);
  auto& which = found->second;
  if (is_new) {
    which.id = id;
    which.key = key;
    which.shard = shard;
    which.number = detail::parse_numbered_id(id);
    in_.require(!which.number || shard_of(key, rabbit_shards) == shard, "the key decides the shard", data);
  }
  in_.notes().note(journal::ensemble, "queued", data, static_cast<std::int64_t>(shard));
  in_.require(which.id == id, "what is put again has the same id", data + ": " + id);
  in_.require(is_new || which.number.has_value(), "put once", data);
  ++which.copies;
  present_[shard].insert(data);
}

void rabbit_rules::delivered(const std::string& queue, const rabbit_message& what) {
  const auto is_again = static_cast<std::int64_t>(what.returns);
  in_.notes().note(journal::ensemble, "delivered", what.what.data + " of " + queue, is_again);
  ++fates_.at(what.what.data).deliveries;
}

/// An acknowledgement means that the message may go.
void rabbit_rules::acknowledged(const std::string&, const rabbit_message& what) {
  const auto& which = fates_.at(what.what.data);
  in_.notes().note(journal::ensemble, "acknowledged", what.what.data);
  const bool has_id = !which.id.empty();
  bool is_settled = which.settlements() > 0;
  if (options_.delivery == delivery_guarantee::at_least_once) is_settled |= has_id ? which.is_known : which.begun > 0;
  if (options_.delivery == delivery_guarantee::at_most_once) is_settled |= !has_id || which.is_known;
  in_.require(is_settled, "acknowledged behind the commit", what.what.data);
}

void rabbit_rules::removed(const std::string& queue, const rabbit_message& what) {
  const auto shard = shard_of_queue(queue);
  ++acknowledged_[shard];
  auto& which = fates_.at(what.what.data);
  if (--which.copies == 0) present_[shard].erase(what.what.data);
}

/// The queues are made so that it does not happen.
void rabbit_rules::dropped(const std::string& queue, const rabbit_message& what) {
  in_.fail("the broker drops no message", what.what.data + " of " + queue);
}

void rabbit_rules::deleted(const std::string& queue, const messages& all) {
  const auto shard = shard_of_queue(queue);
  in_.notes().note(journal::ensemble, "queue is deleted", queue, static_cast<std::int64_t>(all.size()));
  deleted_at_[shard] = in_.clock().now();
  made_again_at_[shard].reset();
  for (const auto& each : all) {
    fates_.at(each->what.data).copies = 0;
    gone_[shard].insert(each->what.data);
  }
  present_[shard].clear();
}

void rabbit_rules::appeared(const std::string& queue) {
  const auto shard = shard_of_queue(queue);
  if (was_deleted(shard)) made_again_at_[shard] = in_.clock().now();
}

/// A consumer makes the queue the first time. Later that would hide that messages are lost. What a client has asked for
/// before it has lost the connection, or its term, can come late.
void rabbit_rules::made(const std::string& queue, int client, bool is_present) {
  const auto shard = shard_of_queue(queue);
  in_.notes().note(client, "makes the queue", queue);
  const auto* runs = in_.running(client);
  const bool is_leader = runs && is_present && runs->believes(static_cast<int>(shard)).held;
  const bool is_old = remembers_since_[shard] && in_.clock().now() - *remembers_since_[shard] > 5s;
  in_.require(!is_leader || !is_old, "a consumer does not hide that a queue has gone", queue);
}

void rabbit_rules::consumed(const std::string& queue) {
  in_.notes().note(journal::ensemble, "consumed", queue);
  auto& all = consumed_at_[shard_of_queue(queue)];
  const auto now = in_.clock().now();
  std::erase_if(all, [now](instant each) { return now - each > recent_consumers; });
  all.push_back(now);
}

void rabbit_rules::misbehaved(int client, const std::string& how) {
  in_.fail("a client keeps to the protocol", "client " + std::to_string(client) + ": " + how);
}

std::vector<rabbit_rules::settled_message> rabbit_rules::settled_by(const entry& what) const {
  std::vector<settled_message> all;
  for (const auto& each : what.changes) {
    const bool is_effect = each.type == kind::set && each.path.starts_with("/result-");
    const bool is_letter = each.type == kind::create && each.path.starts_with(letter_folder);
    if (is_effect) {
      const auto first = each.data.find(' ');
      const auto second = each.data.find(' ', first + 1);
      all.push_back({each.data.substr(second + 1), each.data.substr(0, first), false});
    } else if (is_letter) {
      const auto letter = detail::read_letter(each.data);
      in_.require(letter.has_value(), "a letter can be read", each.data);
      const bool is_spent = letter && (letter->attempts == options_.retry.attempts || letter->reason == "never");
      if (letter) all.push_back({letter->data, {}, is_spent});
    }
  }
  // In order of their numbers, because they happen together.
  std::ranges::stable_sort(all, {}, [](const auto& each) { return serial_of(each.data); });
  return all;
}

void rabbit_rules::committed(const entry& what) {
  if (what.type != entry::kind::request || what.session == 0) return;
  std::array<const std::string*, rabbit_shards> memories{};
  for (const auto& each : what.changes) {
    for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
      if (each.type == kind::set && each.path == memory_path(shard)) memories[shard] = &each.data;
    }
  }
  for (const auto& each : settled_by(what)) {
    const auto found = fates_.find(each.data);
    in_.require(found != fates_.end(), "nothing comes of a message that was not put", each.data);
    if (found != fates_.end()) check_settled(each, memories[found->second.shard] != nullptr);
  }
  for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
    if (memories[shard]) check_memory(shard, *memories[shard]);
  }
}

void rabbit_rules::check_settled(const settled_message& what, bool moves_memory) {
  auto& which = fates_.at(what.data);
  in_.require(moves_memory, "the memory is written with the effects", what.data);
  in_.require(which.deliveries > 0, "settled behind its delivery", what.data);
  const auto most = which.id.empty() ? which.deliveries : 1;
  in_.require(which.settlements() < most, "once in effect, or parked, never both", what.data);
  const bool is_letter = what.epoch.empty();
  if (is_letter) {
    in_.require(what.is_spent, "a message is parked after its attempts", what.data);
    ++which.letters;
  } else {
    check_effect(what, which);
    ++which.effects;
  }
  check_order(what, which);
}

void rabbit_rules::check_effect(const settled_message& what, const fate& which) {
  const auto& terms = terms_[which.shard];
  const bool is_present = std::stoll(what.epoch) == terms.epoch() && !terms.is_finished();
  in_.require(is_present, "effects belong to the present term", what.data);
  in_.require(options_.delivery == delivery_guarantee::effectively_once, "no effects of a message that takes none",
              what.data);
}

/// Numbered messages of one life of a producer: those of a key, or all, in the order of the puts. A message whose queue
/// was deleted between the begin of the put and its confirm is sent again, perhaps behind others, so it is not
/// compared. A confirm can come behind the settlement: until then the queue must have been there.
void rabbit_rules::check_order(const settled_message& what, const fate& which) {
  if (!which.number || options_.order == message_order::none) return;
  if (!which.is_placed && !has_kept_queue(what.data, which.shard)) return;
  const bool is_by_key = options_.order == message_order::by_key;
  const auto line = is_by_key ? which.key : std::to_string(which.shard);
  auto& last = last_[{which.number->producer, which.number->epoch, line}];
  in_.require(which.number->number > last, "in order", which.id + " behind " + std::to_string(last));
  last = which.number->number;
}

/// The queue was there from the begin of the put until now.
bool rabbit_rules::has_kept_queue(const std::string& data, std::uint32_t shard) const {
  if (!was_deleted(shard)) return true;
  const auto& made_again = made_again_at_[shard];
  return made_again && *made_again < put_at_.at(data);
}

/// A message that is settled and may be delivered again is known.
void rabbit_rules::check_memory(std::uint32_t shard, const std::string& text) {
  in_.notes().note(journal::ensemble, "memory", text, static_cast<std::int64_t>(shard));
  const auto memory = detail::parse_delivery_memory(text);
  in_.require(memory.has_value(), "a memory can be read", text);
  if (!memory) return;
  for (const auto& each : memory->missing()) check_missing(shard, each);
  for (const auto& each : present_[shard]) {
    auto& which = fates_.at(each);
    if (which.id.empty()) continue;
    const bool is_known = memory->knows(which.id);
    in_.require(is_known || (which.settlements() == 0 && !which.is_known), "settled, and still in the queue: known",
                each);
    which.is_known |= is_known;
  }
  // What was handed out before its queue was deleted is settled all the same.
  for (const auto& each : gone_[shard]) {
    auto& which = fates_.at(each);
    which.is_known |= !which.id.empty() && memory->knows(which.id);
  }
  if (!memory->is_new() && !remembers_since_[shard]) remembers_since_[shard] = in_.clock().now();
  check_size(shard, *memory);
}

/// Numbers that the consumer misses, as "1-3,7 <epoch> <producer>".
void rabbit_rules::check_missing(std::uint32_t shard, const std::string& text) {
  if (!missed_[shard].insert(text).second) return;
  const auto of = detail::parse_numbered_id("zkr:" + text.substr(text.rfind(' ') + 1) + ":1:1");
  const auto numbers = detail::settled_run::parse(text.substr(0, text.find(' ')));
  in_.require(of && numbers, "what is missed can be read", text);
  if (!of || !numbers) return;
  const auto epoch = std::stoull(text.substr(text.find(' ') + 1));
  std::size_t known = 0;
  for (const auto& [data, which] : fates_) {
    if (!which.number || which.number->producer != of->producer || which.number->epoch != epoch) continue;
    if (!numbers->has(which.number->number)) continue;
    ++known;
    const bool has_gone = gone_[shard].contains(data) && which.copies == 0 && which.settlements() == 0;
    in_.require(has_gone, "no message is missed that was not lost", text + ": " + data);
  }
  std::size_t all = 0;
  for (std::uint64_t i = 1; i <= most_numbers; ++i) all += numbers->has(i) ? 1 : 0;
  // A put of many fails when one of its queues has gone. Nothing is known then of what was sent to the other one, and a
  // consumer that connects anew takes such a number for missing.
  in_.require(known == all || was_deleted(0) || was_deleted(1), "no message is missed that was never put", text);
}

/// Acknowledgements that are not proven, and what was returned to the queue with each lost connection.
void rabbit_rules::check_size(std::uint32_t shard, const detail::delivery_memory& memory) const {
  const auto names = memory.names();
  const auto rounds = 8 + 2 * consumed_at_[shard].size();
  const auto most = rounds * *broker_.prefetch + options_.window;
  in_.require(names.size() <= most, "the memory is bounded", std::to_string(names.size()) + " names");
  const auto is_unnamed = [](const std::string& each) { return each.starts_with('_'); };
  in_.require(std::ranges::none_of(names, is_unnamed), "a message without an id is not remembered");
}

void rabbit_rules::begun(const term& present, const message& item) {
  in_.require(!present.ending(), "nothing is begun after the end of the term", item.data);
  in_.require(item.attempts <= options_.retry.attempts, "attempts keep to their limit", item.data);
  auto& which = fates_.at(item.data);
  in_.require(item.key == which.key, "a message has the key that it was put with", item.data);
  const bool is_removed_first = options_.delivery == delivery_guarantee::at_most_once && !which.id.empty();
  in_.require(!is_removed_first || which.is_known, "at most once: settled before it is processed", item.data);
  ++which.begun;
}

/// Messages that go with their queue count as put.
void rabbit_rules::confirmed(const std::string& data, std::uint32_t shard) {
  const bool went_with_queue = deleted_at_[shard] && *deleted_at_[shard] >= put_at_.at(data);
  const auto found = fates_.find(data);
  const bool was_queued = found != fates_.end();
  in_.require(was_queued || went_with_queue, "what is told to be put is in the queue", data);
  if (was_queued) found->second.is_placed = has_kept_queue(data, shard);
}

std::size_t rabbit_rules::waiting() const {
  std::size_t count = 0;
  for (const auto& each : present_) count += each.size();
  return count;
}

}  // namespace zkrecipes::simulation
