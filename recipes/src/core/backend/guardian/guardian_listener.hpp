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

}  // namespace zkrecipes::backend
