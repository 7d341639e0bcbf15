// The library's seam (`backend::world`), implemented on the simulated ensemble.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <zkrecipes/session.hpp>

#include "backend/world.hpp"
#include "model/ensemble.hpp"
#include "run/journal.hpp"
#include "world/broker_network.hpp"
#include "world/process.hpp"

namespace zkrecipes::simulation {

struct surroundings {
  process_ptr inside;
  ensemble* servers = nullptr;
  journal* notes = nullptr;
  std::uint64_t seed = 0;                                ///< For the random numbers that the library draws.
  std::function<void(const connection_ptr&)> connected;  ///< Called with every new connection.
  broker_network* brokers = nullptr;                     ///< Null: there are none.
};

/// The seam for one session.
std::unique_ptr<backend::world> make_world(const surroundings& where, asio::any_io_executor strand);

/// A session of the library in this process.
session make_session(const surroundings& where, session_options options);

/// The value for `session_options::hosts`.
std::string hosts(int servers);

/// The client's end of a connection. It behaves as the C client does, including pings and dead-peer detection.
class wire final : public peer, public std::enable_shared_from_this<wire> {
 public:
  wire(const surroundings& where, backend::link_listener& listener) : where_(where), listener_(&listener) {}

  void connect(const backend::link_options& options);
  void submit(backend::request what, backend::reply_handler handler);
  void close_session();
  void abandon();

 private:
  void granted(const backend::session_key& key) override;
  void refused() override;
  void answered(backend::reply answer) override;
  void ponged() override;
  void fired(const backend::watch_event& event) override;
  void broken() override;

  template <class Function>
  void inside(Function what);
  void fail(error_code reason);
  void stay_alive();
  void drop();

  surroundings where_;
  backend::link_listener* listener_;
  connection_ptr connection_;
  std::deque<backend::reply_handler> pending_;
  std::chrono::milliseconds timeout_{0};
  lease_clock::time_point sent_;
  lease_clock::time_point heard_;
  backend::timer_id timer_ = 0;
  bool closing_ = false;
};

}  // namespace zkrecipes::simulation
