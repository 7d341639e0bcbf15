// What a worker takes turns at, by the name that the tests give it.
#pragma once

#include <zkrecipes/session.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>

namespace interop {

class turn {
 public:
  virtual ~turn() = default;
  virtual boost::asio::awaitable<void> acquire() = 0;
  virtual boost::asio::awaitable<void> release() = 0;
};

/// `kind`: mutex, election (named as a latch's or, election-as-selector, as a selector's), read or write.
/// \throws std::invalid_argument
std::unique_ptr<turn> make_turn(const std::string& kind, zkrecipes::session zk, const std::string& path,
                                const std::string& name);

}  // namespace interop
