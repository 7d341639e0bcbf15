#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "endings.hpp"
#include "event_log.hpp"
#include "limits.hpp"
#include "listener.hpp"
#include "peer_connection.hpp"
#include "registry.hpp"

namespace guardian {

struct agent_options {
  listener::place socket;
  early_looks early;
  limits most;
};

/// The guardian: those who connect, what is held for them, and what is done when they are dead. On one thread.
class agent {
 public:
  agent(boost::asio::io_context& io, const agent_options& options, session_ender how, event_log::sink log);
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;
  ~agent();

  /// \throws std::runtime_error as `listener`.
  void listen();
  /// Serves one process, which has made the other end. `over` is called when nothing is held and nobody is connected. A
  /// process that lives can not come back, so what it has told is forgotten when its sessions have timed out.
  void serve(int socket, std::function<void()> over);
  /// Takes no connections any more, and ends those that there are. What was told is forgotten.
  void stop();
  /// The same. `over` is called when the sessions of the processes that are dead already have been ended.
  void finish(std::function<void()> over);

  const registry& held() const noexcept { return known_; }
  std::size_t connection_count() const noexcept { return connections_.size(); }

 private:
  void accept(listener::socket with, bool is_inherited = false);
  void note_end();
  void end_if_over();
  void wait_for_timeouts();

  boost::asio::io_context& io_;
  agent_options options_;
  event_log log_;
  endings endings_;
  registry known_;
  std::optional<listener> listener_;
  std::map<std::uint64_t, std::shared_ptr<peer_connection>> connections_;
  std::uint64_t last_number_ = 0;
  std::function<void()> over_;
  std::function<void()> finished_;
  boost::asio::steady_timer patience_;
  bool has_patience_ = false;                               // the timer was set
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // a handler can come after our end
};

}  // namespace guardian
