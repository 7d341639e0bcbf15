#pragma once

#include <string>

#include "descriptor.hpp"

namespace testcluster::detail {

/// A random address of 127.0.0.0/8 that no other user of this class has, in any process. The lease is an abstract unix
/// socket named after the address: binding it is atomic, and the kernel releases it however the holder ends. On an
/// address of its own every port is free, so there is no search for a free port and no race for it.
class loopback_address {
 public:
  loopback_address();
  const std::string& text() const { return text_; }

 private:
  bool lease(const std::string& candidate);
  std::string text_;
  descriptor lease_;
};

}  // namespace testcluster::detail
