// The connection to the guardian of this machine, as the seam shows it.
#pragma once

#include <zkrecipes/error.hpp>

#include "backend/guardian/guardian_message.hpp"

namespace zkrecipes::backend {

/// Receives the events of a line, on the strand, never from inside a call. No call comes after `guardian_down`, or once
/// the line is destroyed; it may be destroyed inside of a call.
class guardian_listener {
 public:
  /// The first message is to be `hello`: it takes the pidfd of this process with it.
  virtual void guardian_up() = 0;
  virtual void guardian_said(const guardian_answer& what) = 0;
  virtual void guardian_down(const error_code& reason) = 0;

 protected:
  ~guardian_listener() = default;
};

/// Its destructor ends the connection at once.
class guardian_line {
 public:
  virtual ~guardian_line() = default;
  /// False if the message can not be told, because it has something that a guardian would refuse. Then nothing is sent.
  virtual bool send(const guardian_message& what) = 0;
  /// The last call: nobody is told anything any more. The connection ends when the guardian has taken what was sent, or
  /// after a second.
  virtual void finish() {}
  /// The last call: the guardian does not answer. One that belongs to us is killed.
  virtual void give_up() {}
};

}  // namespace zkrecipes::backend
