// The rules for the messages of a consumer: what becomes of each, in which order, and how often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/term.hpp>

#include "election/term_record.hpp"
#include "run/stage.hpp"
#include "scenario/term_rules.hpp"
#include "support/bound_judge.hpp"
#include "topic/topic_layout.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

/// Calls of `process` keep to the limit of the consumer, over all terms.
class limit_rules {
 public:
  /// Clocks of processes are wrong by up to a hundredth, in either direction. So the rate may be exceeded by that, and
  /// the burst by less than one call.
  limit_rules(stage& in, const std::optional<message_limit>& limit) : in_(in) {
    if (!limit) return;
    const auto per = lease_clock::duration(limit->per) / 100 * 97;
    judge_.emplace(static_cast<std::int64_t>(limit->rate), per, static_cast<std::int64_t>(limit->burst) + 1);
  }

  /// A call of the present term.
  void begun(const std::string& message) {
    if (!judge_) return;
    const auto keeps_to_it = judge_->add(lease_clock::time_point(in_.clock().now()), 1);
    in_.require(keeps_to_it, "calls keep to the limit", message);
  }
  /// The record was overwritten: a new first term has a whole burst.
  void forgive() { judge_.reset(); }

 private:
  stage& in_;
  std::optional<test::bound_judge> judge_;
};

/// Probation ends: a consumer does not name messages for ever.
class probation_rules {
 public:
  /// `length`: for how many settled messages the first probation lasts. Each further crash doubles it.
  probation_rules(stage& in, std::size_t length) : in_(in), length_(length) {}

  /// The record of the term was written.
  void recorded(const detail::term_record& record);
  /// An attempt of this message was counted: it is named before it is begun from now on, in each term.
  void counted(const std::string& name) { counted_.insert(name); }
  /// A message was settled by the present term.
  void settled() { ++settled_; }

 private:
  stage& in_;
  std::size_t length_;
  std::int64_t epoch_ = 0;
  std::size_t settled_ = 0;      // in the present term
  std::set<std::string> named_;  // in the present term, those that it has found included
  std::set<std::string> counted_;
};

/// Some messages are repeats of others: each number of a producer has its effect once.
/// The messages n, n + 3, n + 6 ... are those of one producer, which numbers them 0, 1, 2 ... A message has its own
/// number, or, in one case of three, that of one of the two messages before it of its producer.
class repeat_rules {
 public:
  static constexpr std::uint64_t producers = 3;

  static std::uint64_t number_of(std::uint64_t seed, std::uint64_t message) {
    chance draw(seed * 1'000 + message, 876);
    const auto before = producers * (1 + draw.below(2));
    return draw.one_in(3) && message > before ? number_of(seed, message - before) : message;
  }
  static message_repeats option(std::uint64_t seed) {
    message_repeats option;
    option.origin = [seed](const message& item) {
      const auto which = std::stoull(item.data);
      return message_origin{std::to_string(which % producers), number_of(seed, which) / producers};
    };
    return option;
  }

  repeat_rules(stage& in, const queue_consumer_options& options) : in_(in), is_used_(options.repeats.has_value()) {}

  /// Whether the number of this message has had its effect.
  bool is_repeat(std::uint64_t message) const { return is_used_ && done_.contains(number_of(message)); }
  /// The message has its effect, or is removed behind a call of `process`.
  void done(std::uint64_t message) {
    if (!is_used_) return;
    in_.require(done_.insert(number_of(message)).second, "each number of a producer has its effect once",
                std::to_string(message));
  }
  /// It was begun, and its batch was deleted by somebody: whether its call ended before that is not seen.
  void may_be_done(std::uint64_t message) { maybe_done_.insert(number_of(message)); }
  bool may_be_repeat(std::uint64_t message) const {
    return is_repeat(message) || (is_used_ && maybe_done_.contains(number_of(message)));
  }
  /// It is begun by the present term, or becomes a letter.
  void tried(std::uint64_t message) const {
    in_.require(!is_repeat(message), "a repeat is not processed", std::to_string(message));
  }

 private:
  std::uint64_t number_of(std::uint64_t message) const { return number_of(in_.what().seed, message); }

  stage& in_;
  bool is_used_;
  std::set<std::uint64_t> done_;
  std::set<std::uint64_t> maybe_done_;
};

/// The trouble that a message makes; the seed decides.
enum class trouble {
  none,
  throws,  ///< Each attempt.
  throws_at_first,
  is_refused,  ///< Its effects.
  asks_again,  ///< At the first attempt.
  is_parked,
  hangs,      ///< It ends only when it is cancelled.
  holds_off,  ///< At the first attempt.
  kills,      ///< Its process, each time.
};

/// The messages are numbers, 1, 2, 3 ... The effect of message n is that the store says "epoch n".
class delivery_rules {
 public:
  /// `queue`: its path, or that of a topic with one shard and the group "g".
  delivery_rules(stage& in, const term_rules& terms, std::string election, std::string queue, std::string results,
                 bool is_topic);

  const queue_consumer_options& options() const noexcept { return options_; }
  trouble of(const std::string& message) const;
  /// Whether the dependency of all messages is away at present, so that each attempt fails.
  bool is_away() const;

  void committed(const entry& what);
  /// `process` is called. Says how often that was so for this message.
  int begun(const term& present, const message& item);

  std::uint64_t settled() const noexcept { return done_.size() + parkings_ + removed_.size(); }
  bool all_settled() const;
  void check_quiet() const;

 private:
  void record_operator(const entry& what);
  void record_item(const change& what, std::set<std::uint64_t>& leaving);
  void record_batch(const change& what);
  void record_position(const change& what, std::set<std::uint64_t>& leaving);
  void check_removal(const change& what);
  void record_lost_batch(const std::string& path);
  void check_departure(std::uint64_t number, const std::string& with);
  void count_repeat(std::uint64_t number);
  void record_names(const std::string& record);
  void check_attempts(const change& what);
  void check_effect(const std::string& text);
  void check_order(std::uint64_t number);
  void record_revived(const change& what);
  bool is_behind_parked(std::uint64_t number) const;
  void check_key(std::uint64_t number);
  void check_letter(const std::string& text);
  std::uint64_t number_of(const std::string& path) const;
  bool is_settled(std::uint64_t number) const;
  bool is_item(const std::string& path) const;

  stage& in_;
  const term_rules& terms_;
  std::string election_;
  std::string queue_;
  std::string results_;
  bool is_topic_;
  queue_consumer_options options_;
  probation_rules probation_;
  limit_rules limit_;
  repeat_rules repeats_;
  instant away_from_{};
  instant away_until_{};      // not later than `away_from_`: it is never away
  std::uint64_t killer_ = 0;  // the number of the message that kills its process; 0: none
  std::uint64_t produced_ = 0;
  std::map<std::string, std::uint64_t> numbers_;  // by path
  std::set<std::uint64_t> done_;
  std::set<std::uint64_t> parked_;
  std::uint64_t parkings_ = 0;
  std::set<std::uint64_t> deleted_;  // by an operator
  std::set<std::uint64_t> removed_;  // at most once: before they are processed
  std::map<std::uint64_t, int> begun_;
  std::set<std::uint64_t> begun_away_;              // while the dependency was away
  std::set<std::uint64_t> begun_alone_;             // the first of these
  std::set<std::uint64_t> named_;                   // in a record, before they were begun
  std::map<std::uint64_t, std::int32_t> attempts_;  // as the handler was told last
  // For a topic:
  std::map<std::uint64_t, detail::message_place> places_;
  std::map<std::int32_t, std::set<std::uint64_t>> batches_;  // by number; of those that are there
  std::set<std::uint64_t> behind_;                           // the position
  std::map<std::uint64_t, std::int32_t> failed_;
};

}  // namespace zkrecipes::simulation
