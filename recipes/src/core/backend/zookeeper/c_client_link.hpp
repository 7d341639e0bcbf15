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

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/link_listener.hpp"
#include "backend/link_options.hpp"
#include "backend/reply.hpp"
#include "backend/request.hpp"
#include "backend/wiped_credentials.hpp"
#include "backend/zookeeper/client_handle.hpp"
#include "backend/zookeeper/credentials_frame.hpp"
#include "backend/zookeeper/link_news.hpp"
#include "backend/zookeeper/server_input.hpp"
#include "backend/zookeeper/server_silence.hpp"

namespace zkrecipes::backend {

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

  void pass(request what, reply_handler handler);
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

}  // namespace zkrecipes::backend
