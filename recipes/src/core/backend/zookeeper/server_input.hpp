// Hands what a server sends to the C client, one judged frame after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/zookeeper/answer_check.hpp"

namespace zkrecipes::backend {

/// How the C client gets bytes that we have read already.
/// A pair of Unix sockets. Between `begin` and `end` one of them stands in the place of the C client's descriptor, for
/// the time of one frame and without a return to the executor. The pair is opened with the connection, because a
/// connection that is up must not end for want of descriptors.
class input_detour {
 public:
  input_detour();
  ~input_detour();
  input_detour(const input_detour&) = delete;
  input_detour& operator=(const input_detour&) = delete;

  /// False: there is no descriptor left.
  bool is_ready() const noexcept { return far_ >= 0; }

  /// False: the C client still reads from its socket.
  bool begin(int descriptor) const;
  /// Sends what the C client has written meanwhile, and puts its socket back, unless it has closed its descriptor.
  /// `original` is another descriptor of that socket.
  void end(int descriptor, int original) const;
  /// Returns how many of the bytes it has taken.
  std::size_t write(std::string_view bytes) const;

 private:
  void send_what_was_written(int original) const;

  int near_ = -1;  // the end that the C client has
  int far_ = -1;
};

/// How long a server may say nothing. Pure arithmetic on times that it is given.
/// A server before 3.8.1 can leave a request or a ping unanswered until it gets another request, from any client
/// (ZOOKEEPER-4537); and the C client sends no ping while it waits for an answer. So a silent server is probed, and
/// left when it owes an answer for too long.
class server_silence {
 public:
  using clock = std::chrono::steady_clock;
  using time_point = clock::time_point;

  /// The session was granted: from now on the server may be silent for a part of this time only.
  void begin(std::chrono::milliseconds timeout) noexcept;

  void on_request(time_point present) noexcept;
  /// A request was answered, or could not be sent after all.
  void on_answer() noexcept { --unanswered_; }
  /// A probe is a request, too.
  void on_probe(time_point present) noexcept;
  /// Something has come; `is_answer`: neither an event nor the answer to a ping.
  void on_input(time_point present, bool is_answer) noexcept;
  /// All that had come was read after a stall of our own process.
  void on_late_input(time_point present) noexcept { answered_ = present; }

  /// Requests that were passed on and have no answer yet.
  std::size_t unanswered() const noexcept { return unanswered_; }
  /// How long an answer may take before the server is probed. After eight times as long (two thirds of the session
  /// timeout) the connection is given up.
  std::chrono::milliseconds longest_answer() const noexcept { return timeout_ / 12; }
  /// The time until a silent server is to be probed.
  std::chrono::microseconds time_to_probe(time_point present) const noexcept;
  /// True if a request has had no answer for as long as the C client would wait, although something else came: events,
  /// or answers to pings. To the C client such a server lives.
  bool is_put_off(time_point present) const noexcept;
  /// True if we run much later than planned and nothing has arrived. The C client would then give the connection up,
  /// because it has received nothing for so long. But the reason is that our own process was stalled and has sent no
  /// ping.
  bool overslept(time_point present, time_point due) const noexcept;
  /// Until when the socket may take nothing of what has been waiting since then.
  time_point stuck_at(time_point since) const noexcept;

  /// After a stall of our own process the server gets as much time for a sign of life as it would have had for a ping,
  /// before the C client judges the connection.
  void ask(time_point present) noexcept;
  bool is_asking(time_point present) const noexcept { return asking_ && present < ask_until_; }
  time_point asks_until() const noexcept { return ask_until_; }
  /// True if it was asking.
  bool stop_asking() noexcept;

 private:
  bool is_up_ = false;
  std::chrono::milliseconds timeout_{0};
  time_point heard_;     // when the server last sent something, began to owe an answer, or was probed
  time_point answered_;  // when the server last sent an answer, or began to owe one
  std::size_t unanswered_ = 0;
  bool asking_ = false;
  time_point ask_until_;
};

/// The C client, as far as its input goes. Any call may end the connection.
class frame_reader {
 public:
  virtual bool is_open() const noexcept = 0;
  /// Reads from its descriptor, one frame at most. Returns the code of the C client.
  virtual int read() = 0;
  /// It has read a frame, with this code. False: nothing more is to be read.
  virtual bool on_frame(int rc) = 0;
  /// An answer to credentials, of which the C client knows nothing.
  virtual void on_credentials(bool are_refused) = 0;
  /// Nothing more has come for now, or it has seen the end of the stream.
  virtual void on_end(int rc) = 0;
  /// The server has sent what it must not.
  virtual void on_breach() = 0;

 protected:
  ~frame_reader() = default;
};

class server_input {
 public:
  /// `session`: that is asked for, 0 for a new one.
  server_input(std::int64_t session, frame_reader& reader) : check_(session), reader_(reader) {}

  /// False: there are no descriptors left.
  bool is_ready() const noexcept { return detour_.is_ready(); }
  answer_check& check() noexcept { return check_; }
  const answer_check& check() const noexcept { return check_; }
  /// Reads all that has come. `ours` is another descriptor of the socket of the C client, `theirs`.
  void drain(int ours, int theirs);

 private:
  bool look_at_input();
  bool on_nothing(bool is_only_late);
  std::size_t whole_frame(std::string_view bytes);
  bool pass_frame(std::size_t size);
  bool on_credentials();
  bool keep_start(std::size_t size);
  bool complete_frame();
  std::size_t missing() const;
  void feed(const std::string& frame);

  answer_check check_;
  frame_reader& reader_;
  input_detour detour_;
  int ours_ = -1;
  int theirs_ = -1;
  std::string cut_short_;  // the start of a frame whose end has not come yet
};

}  // namespace zkrecipes::backend
