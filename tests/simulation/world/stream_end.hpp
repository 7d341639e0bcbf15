// The client's end of a connection to a broker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/broker_stream.hpp"
#include "world/broker_network.hpp"
#include "world/process.hpp"

namespace zkrecipes::simulation {

/// Does what a socket does. The handlers that wait belong to the process, as those of Asio belong to its context.
class stream_end final : public wire_end, public std::enable_shared_from_this<stream_end> {
 public:
  using moved = backend::broker_stream::moved;

  stream_end(process_ptr inside, broker_network& network) : inside_(std::move(inside)), network_(network) {}

  void connect(const backend::endpoint& broker, backend::broker_stream::connected then);
  void read_some(asio::mutable_buffer to, moved then);
  void write(asio::const_buffer all, moved then);
  void close();

 private:
  /// A handler that waits.
  struct waiting {
    std::uint64_t kept = 0;
    std::weak_ptr<moved> then{};
  };

  void connected() override;
  void receive(std::string_view bytes) override;
  void drained() override;
  void lose(const error_code& why) override;

  void wait(waiting& which, moved then);
  moved take(waiting& which);
  void finish(waiting& which, const error_code& why, std::size_t size);
  template <class Function>
  void inside(Function what);
  void read();
  void complete_write();

  process_ptr inside_;
  broker_network& network_;
  broker_wire_ptr wire_;
  waiting connecting_;
  waiting reading_;
  waiting writing_;
  asio::mutable_buffer into_;
  std::size_t writes_ = 0;  // bytes of the write under way
  std::string arrived_;     // and not read
  error_code failure_;
  bool is_closed_ = false;
};

}  // namespace zkrecipes::simulation
