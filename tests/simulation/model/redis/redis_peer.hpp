// The broker's end of a connection: Redis as far as our client speaks with it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/redis/redis_pair.hpp"
#include "world/broker_network.hpp"

struct redisReader;

namespace zkrecipes::simulation {

/// Commands are done in order; an XREAD that waits holds up those behind it.
class redis_peer final : public wire_end, public std::enable_shared_from_this<redis_peer> {
 public:
  redis_peer(redis_pair& of, int node, broker_wire_ptr over);

  int node() const noexcept { return node_; }
  bool is_alive() const noexcept { return !is_over_; }
  void begin() { wire_->attach(broker_wire::side::broker, weak_from_this()); }

  /// Does what has arrived. A process that stands still does it later, also for clients that have gone meanwhile.
  void go_on();
  /// There may be something to read.
  void look();
  /// The broker has become a replica.
  void unblock();
  /// `is_told`: the connection is closed. Else the machine has gone.
  void end(bool is_told);

 private:
  struct reader_deleter {
    void operator()(redisReader* what) const noexcept;
  };
  struct waiting_read {
    std::string stream;
    std::string behind;
    std::size_t most = 0;
    instant until{0};
  };

  void receive(std::string_view bytes) override;
  void lose(const error_code& why) override;
  void take_commands();
  void execute(const redis_command& command);
  std::string answer(const redis_command& command);
  std::string role() const;
  void read(const redis_command& command);

  redis_pair& of_;
  int node_;
  broker_wire_ptr wire_;
  std::unique_ptr<redisReader, reader_deleter> reader_;
  std::deque<redis_command> commands_;
  std::optional<waiting_read> blocked_;
  bool is_authenticated_ = false;
  bool is_lost_ = false;  // the client has gone
  bool is_over_ = false;
};

}  // namespace zkrecipes::simulation
