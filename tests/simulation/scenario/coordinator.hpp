// Three coordinators consume one queue, or a shard of a topic; one of them at a time leads and runs its career. A
// fourth client fills it with a producer, and an operator interferes now and then.
#pragma once

#include <zkrecipes/consumer/topic.hpp>

#include "run/stage.hpp"
#include "scenario/delivery_rules.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/term_rules.hpp"

namespace zkrecipes::simulation {

std::unique_ptr<scenario> make_coordinator_scenario(stage& in);
std::unique_ptr<scenario> make_topic_scenario(stage& in);

/// The paths of the scenario.
namespace service {
inline constexpr const char* election_path = "/consumer";
inline constexpr const char* queue_path = "/queue";  ///< Or that of the topic.
inline constexpr const char* result_path = "/result";
inline constexpr const char* group = "g";                 ///< That of the consumers, if it is a topic.
inline constexpr const char* shard_path = "/queue/0000";  ///< Its only shard.
}  // namespace service

inline constexpr int producing_client = 3;

/// State that the programs of the scenario share.
struct consumers {
  consumers(stage& in, bool from_topic);
  topic topic_over(const session& with) const { return topic(with, service::queue_path, of_topic); }

  bool is_topic;
  topic_options of_topic;
  career_traits traits;
  term_rules terms;
  delivery_rules messages;
  call_rules calls;
  line_rules line;
  int revivals = 0;  ///< Operators at it: what they put back has to be processed yet.
};

std::unique_ptr<program> make_worker(consumers& of, stage& in, int client, session with);
std::unique_ptr<program> make_filler(consumers& of, stage& in, session with);

}  // namespace zkrecipes::simulation
