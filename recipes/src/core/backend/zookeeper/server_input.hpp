// Hands what a server sends to the C client, one judged frame after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/zookeeper/answer_check.hpp"
#include "backend/zookeeper/input_detour.hpp"

namespace zkrecipes::backend {

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
