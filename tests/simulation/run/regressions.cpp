#include "run/regressions.hpp"

#include <cstdio>

#include "run/campaign.hpp"

namespace zkrecipes::simulation {

namespace {

struct regression {
  const char* protects;
  const char* scenario;
  std::uint64_t seed;
};

// The seeds that found these bugs. tests/planted puts bugs of the library back, one by one, and shows that the search
// still finds them.
constexpr regression regressions[] = {
    {"no heartbeat while the session is being closed, tried again without a pause", "election", 3},
    {"no heartbeat while the session is being closed, of a leader", "coordinator", 6033},
    {"a leader that retires stops believing when it asks, not when it hears", "coordinator", 9535},
    {"a barrier's wait does not believe an event that is older than its look", "barrier", 653},
    {"a taker whose clock is fast gets its turn at delayed items", "queue", 3036},
    {"an item rejected while its session ends is superseded", "queue", 1606},
    {"a number that was drawn for an item goes also when the item has gone by itself", "queue", 10218},
    {"unregistering while the session ends is no error", "discovery", 2868},
    {"a value whose making was not answered is not made again", "shared_value", 24},
    {"a node of a double barrier that is made again is another member", "double_barrier", 7028455},
    {"a node of a double barrier that is made again keeps nobody of the round before", "double_barrier", 50000231},
    {"a commit that is refused because the session has ended is no failure of the career", "coordinator", 6721},
    {"a claim that an operator removed is not taken for an acknowledgement", "queue", 7242319},
    {"an item is handed out at most once, also where a claim was removed by hand", "queue", 2426},
    {"tickets of a queue with a limit belong to the session that they were drawn in", "queue", 88},
    {"an acknowledgement that was done is done although the item was taken again", "queue", 1454},
    {"a term that was cut short is not taken for handed over by one who saw its leader hand over", "coordinator",
     300095009},
    {"who is let in at once tells those behind it that saw it wait", "semaphore", 600176584},
    {"a later request to release does not lengthen an earlier grace", "lock", 7114079},
    {"a hand-over's commit does not end the search for the message that kills", "coordinator", 9002729},
    {"a strict lease on a line with few round trips to the timeout", "line", 1121},
    {"a member's node that is overwritten with the same text again is restored again", "shards", 60006274},
    {"a leader whose lease has lapsed leaves the line as it retires", "topic", 1010002314},
    {"a process that a message kills while the clients are stopped is stopped when it is back", "coordinator",
     1020049579},
    {"a message that was found again while its key rested, because of a lost reply, goes on", "coordinator",
     3100136383},
    {"what waits behind a message of its key is read again when that has gone while it rested", "coordinator",
     5100032241},
    {"a term that goes by a removed record by chance tells of its own deaths", "shards", 5100164776},
    {"a career's failure counts although what it had committed is executed later", "shards", 5300031616},
    {"nothing is owed while a node stands that a call has made after it was cancelled", "shared_gate", 5100197998},
    {"a taker that meets a pop of its own earlier session begins anywhere near the front", "queue", 5600551644},
    {"puts of a producer that were cancelled on the way go on behind one another", "queue", 5600641664},
    {"a shard of a frozen group that all members want to leave waits without an owner", "shards", 6200014516},
    {"what is left of a balance is removed, too, if a deposed leader has removed a part", "shared_balance", 6300013839},
    {"no shard waits for a member whose successor is there, and drains", "shards", 6200254596},
    {"a message that a call took along is stalled by its own begin", "coordinator", 4941},
    {"a candidate enters its line again when its strict lease holds again, not before", "rabbit", 40},
    {"what was read from a stream is missed although its position was read anew since", "redis", 9100045513},
    {"an item whose put has ended without a connection is not sent again", "coordinator", 984601366},
    {"at most once: what is removed before it is processed does not hold back a probe", "coordinator", 19861},
    {"an acknowledgement that ends without a connection is told the truth when it is repeated", "queue", 9700001204},
};

}  // namespace

int run_regressions() {
  int broken = 0;
  for (const auto& each : regressions) {
    campaign_options options;
    options.scenario = each.scenario;
    options.first = each.seed;
    std::printf("%s:\n", each.protects);
    broken += run_one(options);
  }
  return broken > 0 ? 1 : 0;
}

}  // namespace zkrecipes::simulation
