#include "timings.hpp"

#include <algorithm>

namespace demo {

timings choose_timings(const direction& how) {
  using namespace std::chrono_literals;
  timings chosen;
  const bool is_rabbitmq = std::ranges::count(how.sources, source_kind::rabbitmq) > 0;
  const auto broker_pause = is_rabbitmq ? 15s : 2s;  // until it is as before a kill
  if (how.incidents > 0) {  // the timeout of a session and the deadline of a hand-over are the library's defaults
    chosen.timeout = 10s;
    chosen.deadline = 10s;
    chosen.grace = 10s;
    chosen.production = how.incidents * 60s + (how.kills + how.changes) * 5s;
  } else if (how.kills > 1 || how.server_kills > 1 || how.changes > 0) {
    chosen.tick = 200ms;
    chosen.timeout = 1s;
    chosen.deadline = 200ms;
    chosen.production = std::max<std::chrono::milliseconds>(
        15s, (how.kills + how.changes) * 2500ms + how.server_kills * 4s + how.broker_kills * broker_pause);
  }
  const auto messages = static_cast<std::int64_t>(how.work.messages);
  chosen.production = std::max(chosen.production, messages * (how.work.shards ? 2ms : 3ms));
  // A message that kills is named after two deaths. A death takes until the successor is at work.
  const auto deaths = static_cast<std::int64_t>(how.work.killers) * (2 + attempts_limit);
  chosen.patience = 80s + 2 * chosen.production + 2 * deaths * (chosen.timeout + chosen.deadline + 1s);
  return chosen;
}

}  // namespace demo
