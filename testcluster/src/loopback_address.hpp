#pragma once

#include "descriptor.hpp"

#include <string>

namespace testcluster::detail {

/// A random address of 127.0.0.0/8 that no other user of this class has, in any process. The lease is an
/// abstract unix socket named after the address: taken atomically, and released by the kernel however the
/// holder ends. With an address to oneself, every port is free, so nobody has to search for one and lose it
/// before it is used.
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
