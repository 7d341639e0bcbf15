// The rules for the messages of a consumer: what becomes of each, in which order, and how often.
#pragma once

#include <map>
#include <set>
#include <string>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/term.hpp>

#include "run/stage.hpp"
#include "scenario/limit_rules.hpp"
#include "scenario/probation_rules.hpp"
#include "scenario/repeat_rules.hpp"
#include "scenario/term_rules.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::simulation {

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
