// One connection of the single-threaded C client, driven by Asio.
//
// Here a handle of the C client serves exactly one connection to one numeric address and is destroyed with it; the
// session is carried over by its id and password. This avoids the faults of a long-lived handle: it skips servers in an
// even list, continues half-sent requests on the next connection, resolves names inside every call, and resets all
// watches in one packet. The other faults are handled here: the C client closes its descriptor without telling us,
// checks for a stall before it reads, and blocks when it closes; a server can sleep over a request.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <zookeeper/zookeeper.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/home_process.hpp"
#include "backend/link_listener.hpp"
#include "backend/link_options.hpp"
#include "backend/reply.hpp"
#include "backend/request.hpp"
#include "backend/wiped_credentials.hpp"
#include "backend/zookeeper/answer_check.hpp"
#include "backend/zookeeper/input_detour.hpp"

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
  struct finished {
    reply_handler handler;
    reply answer;
  };
  using news = std::variant<finished, watch_event>;

  void open(const link_options& options, const endpoint& at);
  void secure(const link_options& options);
  void open_behind_tls(const link_options& options);
  void forward();
  void give_up_tls();

  static void on_event(zhandle_t*, int type, int state, const char* path, void* context);
  void on_session_state(int state);
  void show(std::string frames, std::size_t count);
  void show_rest();
  bool show_first_held();
  void await_room();

  /// A burst of requests shall keep neither the strand nor the first answer: more than these wait for answers.
  static constexpr std::size_t most_unanswered = 256;
  bool may_release() const;
  void pass(request what, reply_handler handler);
  void release_held();
  void pump();
  void go_on();
  void process(int events);
  void drain_input();
  bool look_at_input();
  bool see_no_input(bool is_only_late);
  std::size_t whole_frame(std::string_view bytes);
  bool pass_frame(std::size_t size);
  bool note_credentials();
  bool note_frame(int rc);
  bool keep_start(std::size_t size);
  bool complete_frame();
  std::size_t missing() const;
  void feed(const std::string& frame);
  void follow_descriptor(int fd);
  void wait(int interest, std::chrono::microseconds longest);
  void set_timer();
  bool overslept() const;
  void ask_for_a_sign_of_life();
  void await_a_sign_of_life();
  std::chrono::milliseconds patience() const;
  std::chrono::microseconds time_to_rouse() const;
  bool is_put_off() const;
  void rouse();
  void schedule_pump();
  void check(int rc);
  void fail(error_code reason);
  void destroy_handle();
  void detach_elsewhere();
  void deliver_later();
  void deliver();
  void send_close_frame();
  void await_end_of_stream();

  boost::asio::any_io_executor strand_;
  home_process home_;
  link_listener* listener_;
  boost::asio::posix::stream_descriptor descriptor_;  // our own duplicate of the C client's
  std::shared_ptr<tls_stream> tls_;                   // null: plain text
  boost::asio::steady_timer timer_;
  clock::time_point due_;                                   // the C client is to be called by then
  clock::time_point timer_end_ = clock::time_point::max();  // of the present wait for the timer, if any
  clock::time_point heard_;     // when the server last sent something, began to owe an answer, or was roused
  clock::time_point answered_;  // when the server last sent an answer, or began to owe one
  std::size_t unanswered_ = 0;  // requests that were passed to the C client and have no answer yet
  zhandle_t* handle_ = nullptr;
  int c_client_descriptor_ = -1;
  std::optional<input_detour> detour_;

  std::optional<answer_check> check_;
  std::uint64_t answers_ = 0;
  std::string cut_short_;  // the start of a frame whose end has not come yet

  std::vector<news> heard_of_;  // events and answers, in the order in which the server sent them
  wiped_credentials digest_;    // until it is sent
  session_key granted_;
  bool up_pending_ = false;
  bool was_up_ = false;
  bool down_pending_ = false;
  error_code down_reason_;
  bool delivery_scheduled_ = false;
  bool listening_ = false;  // input is being read: all of it is delivered together afterwards
  bool pump_scheduled_ = false;
  bool reading_ = false;
  bool writing_ = false;
  std::deque<held_request> held_;  // until the C client has sent everything, and some answers have come
  std::string unshown_;            // credentials of which the socket has not taken all
  std::size_t shown_ = 0;          // so much of them it has taken
  clock::time_point unshown_since_;
  bool asking_ = false;  // for a sign of life, after a stall of our own process
  clock::time_point ask_until_;
  bool closing_ = false;
  bool close_sent_ = false;
  char discard_[64];
};

}  // namespace zkrecipes::backend
