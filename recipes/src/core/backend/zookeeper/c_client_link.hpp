// One connection of the single-threaded C client, driven by Asio.
//
// Here a handle of the C client serves exactly one connection to one numeric address and is destroyed with it; the
// session is carried over by its id and password. This avoids the faults of a long-lived handle: it skips servers in an
// even list, continues half-sent requests on the next connection, resolves names inside every call, and resets all
// watches in one packet. The other faults are handled here: the C client closes its descriptor without telling us,
// checks for a stall before it reads, and blocks when it closes; a server can sleep over a request.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "backend/wiped_credentials.hpp"
#include "backend/zookeeper/client_handle.hpp"
#include "backend/zookeeper/server_input.hpp"

namespace zkrecipes::backend {

/// What a connection tells its listener, in the order in which the server said it.
/// Nothing is told from inside a call of the connection: all that was heard is delivered later on the strand, or at the
/// end of a turn.
class link_news : public std::enable_shared_from_this<link_news> {
 public:
  link_news(boost::asio::any_io_executor strand, link_listener& listener)
      : strand_(std::move(strand)), listener_(&listener) {}

  void on_up(session_key granted);
  void on_event(watch_event event);
  void on_answer(reply_handler handler, reply answer);
  /// The connection has ended: the last news, behind the answers that come before the delivery.
  void on_down(const error_code& reason) noexcept;
  bool is_down() const noexcept { return down_pending_; }
  /// The listener wants to hear something. Not after it was told the end.
  bool has_listener() const noexcept { return listener_ != nullptr; }

  /// From `begin_turn` to `end_turn` news are collected, and then delivered together.
  void begin_turn() noexcept { in_turn_ = true; }
  void end_turn();
  void deliver_later();
  /// Drops the listener and all that it was not told.
  void abandon() noexcept;

 private:
  struct finished {
    reply_handler handler;
    reply answer;
  };

  void deliver();

  boost::asio::any_io_executor strand_;
  link_listener* listener_;
  std::vector<std::variant<finished, watch_event>> heard_of_;
  session_key granted_;
  bool up_pending_ = false;
  bool down_pending_ = false;
  error_code down_reason_;
  bool delivery_scheduled_ = false;
  bool in_turn_ = false;
};

class tls_stream;

class c_client_link : public std::enable_shared_from_this<c_client_link> {
 public:
  c_client_link(boost::asio::any_io_executor strand, link_listener& listener);
  ~c_client_link();

  void connect(link_options options);
  void submit(request what, reply_handler handler);
  void close_session();

  /// Drops the connection, the listener and all handlers. No callback comes after this.
  void abandon();

 private:
  using clock = std::chrono::steady_clock;

  struct held_request {
    request what;
    reply_handler handler;
  };
  struct reader;

  /// A burst of requests shall keep neither the strand nor the first answer: more than these wait for answers.
  static constexpr std::size_t most_unanswered = 256;

  void open(const session_key& key, const endpoint& at);
  void open_behind_tls(const link_options& options);
  static void on_event(zhandle_t*, int type, int state, const char* path, void* context);
  void on_session_state(int state);

  void pass(request what, reply_handler handler, lease_clock::time_point held_until = {});
  bool release_held();
  void show(std::string frames, std::size_t count);
  void await_room();

  void schedule_pump();
  void pump();
  void go_on();
  void process(int events);
  void drain_input();
  void wait(int interest, std::chrono::microseconds longest);
  void await_answer_of_server();
  void probe();
  void check(int rc);
  void fail(error_code reason);
  void drop();
  void send_close_frame();
  void await_end_of_stream();

  boost::asio::any_io_executor strand_;
  std::shared_ptr<link_news> news_;
  client_handle handle_;
  std::shared_ptr<tls_stream> tls_;  // null: plain text
  boost::asio::steady_timer timer_;
  clock::time_point due_;                                   // the C client is to be called by then
  clock::time_point timer_end_ = clock::time_point::max();  // of the present wait for the timer, if any
  server_silence silence_;
  std::unique_ptr<reader> reader_;
  std::optional<server_input> input_;
  std::uint64_t answers_ = 0;  // that were noticed

  wiped_credentials digest_;  // until it is sent
  unsent_credentials unsent_;
  std::deque<held_request> held_;  // until the C client has sent everything, and some answers have come
  bool was_up_ = false;
  bool pump_scheduled_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool closing_ = false;
  bool close_sent_ = false;
  char discard_[64];
};

/// Begins to connect. Destroying the link abandons the connection: no callback comes after that.
std::unique_ptr<link> open_c_client_link(boost::asio::any_io_executor strand, link_options options,
                                         link_listener& listener);

}  // namespace zkrecipes::backend
