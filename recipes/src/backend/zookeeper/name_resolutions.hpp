#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "backend/zookeeper/name_resolution.hpp"

namespace zkrecipes::backend {

/// The names that are being resolved. Asio has one thread for the names of a whole context, so one that hangs holds up
/// all behind it: what is being resolved is not asked for again, but has its answer shared. On the strand.
class name_resolutions {
 public:
  explicit name_resolutions(boost::asio::any_io_executor strand) : strand_(std::move(strand)) {}

  void resolve(std::vector<endpoint> names, resolve_handler handler);

 private:
  boost::asio::any_io_executor strand_;
  std::vector<std::weak_ptr<name_resolution>> under_way_;
};

}  // namespace zkrecipes::backend
