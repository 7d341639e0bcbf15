#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace demo {

/// Counts the results while consumers work.
class progress {
 public:
  explicit progress(zkrecipes::session session);

  boost::asio::awaitable<std::uint64_t> processed();

 private:
  zkrecipes::session session_;
  std::map<std::string, std::uint64_t> counts_;  // of each folder
};

}  // namespace demo
