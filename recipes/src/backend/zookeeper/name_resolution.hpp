#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "backend/world.hpp"

namespace zkrecipes::backend {

/// Resolves a list of host names, one after the other. It owns itself until the handlers have been called. On the
/// strand.
class name_resolution : public std::enable_shared_from_this<name_resolution> {
 public:
  name_resolution(const boost::asio::any_io_executor& strand, std::vector<endpoint> names, resolve_handler handler);
  void start() { next(); }
  /// Calls this handler, too. False: it resolves other names, or has called its handlers; `handler` was not taken.
  bool join(const std::vector<endpoint>& names, resolve_handler& handler);

 private:
  void next();
  void ask(resolved_name& which);
  void finish();

  boost::asio::ip::tcp::resolver resolver_;
  std::vector<resolved_name> names_;
  std::size_t done_ = 0;
  std::vector<resolve_handler> handlers_;  // empty: they were called
};

}  // namespace zkrecipes::backend
