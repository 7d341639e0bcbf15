// Some messages are repeats of others: each number of a producer has its effect once.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "run/stage.hpp"
#include "world/chance.hpp"

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
