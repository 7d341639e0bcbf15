#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "backend/zookeeper/name_resolution.hpp"

namespace zkrecipes::backend {

/// The names that are being resolved for one strand. A host that is not known in time counts as not to be found; the
/// answer is not lost, because who asks again waits for the same lookup. On the strand.
class name_resolutions : public std::enable_shared_from_this<name_resolutions> {
 public:
  explicit name_resolutions(boost::asio::any_io_executor strand) : strand_(std::move(strand)), arrivals_(strand_) {}

  void resolve(std::vector<endpoint> names, resolve_handler handler);
  /// Drops all of them, with their handlers.
  void abandon();

 private:
  using one = std::shared_ptr<name_resolution>;

  bool wait_for_answers();
  void take_answers();
  void limit(const one& which);
  void finish_done();

  boost::asio::any_io_executor strand_;
  boost::asio::posix::stream_descriptor arrivals_;  // a duplicate of the mailbox's
  std::shared_ptr<lookup_mailbox> mailbox_;         // null while nothing is sought
  bool is_one_late_ = false;                        // an answer may still come for which nobody waits
  std::vector<std::weak_ptr<name_resolution>> under_way_;
};

}  // namespace zkrecipes::backend
