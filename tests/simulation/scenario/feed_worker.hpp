// What the consumers of a scenario do with the messages of a broker. It is the same for all brokers.
#pragma once

#include <functional>
#include <string>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "run/stage.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

/// Faults of the network between clients and brokers, by the seed.
/// Connections break, with notice or without, and stand still for a while in either direction. It is the same for all
/// brokers. It outlives the clock's last event of the run.
class broker_weather {
 public:
  /// `longest`: for how long a connection stands still.
  broker_weather(stage& in, span longest);

 private:
  void strike();
  void freeze(const broker_wire_ptr& which);

  stage& in_;
  chance chance_;
  span longest_;
};

/// Each process contends for each feed.
class feed_duties {
 public:
  virtual int feeds() const = 0;
  /// The path of the election for this feed.
  virtual std::string election(int feed) const = 0;
  /// The node that the effects of its messages are written to: "epoch name data".
  virtual std::string results(int feed) const = 0;
  virtual message_feed open(int feed, const session& with) const = 0;
  virtual const queue_consumer_options& options() const = 0;
  virtual career_traits traits() const = 0;

  virtual void inaugurated(int feed, int client, const term& present) = 0;
  virtual void begun(int feed, const term& present, const message& item) = 0;
  /// Whether the message with this data kills its process, each time.
  virtual bool kills(const std::string&) const { return false; }
  /// The run of a consumer has ended with this error. An operator sees to it with the session of that process, and
  /// calls `then`.
  virtual void mend(int feed, const error_code& why, const session& with, operations& by,
                    std::function<void()> then) = 0;

 protected:
  ~feed_duties() = default;
};

/// A process that consumes all feeds, while it leads.
std::unique_ptr<program> make_feed_worker(feed_duties& of, stage& in, int client, session with);

}  // namespace zkrecipes::simulation
