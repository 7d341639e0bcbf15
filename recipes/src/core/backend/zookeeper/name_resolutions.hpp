#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/world.hpp"
#include "backend/zookeeper/lookup_mailbox.hpp"

namespace zkrecipes::backend {

/// Names that are looked up together. On the strand.
class name_resolution {
 public:
  name_resolution(const boost::asio::any_io_executor& strand, std::vector<endpoint> names, resolve_handler handler);

  /// The hosts among them that are not numeric.
  std::vector<std::string> hosts() const;
  void on_answer(const host_answer& what);
  /// What has no answer by now gets none.
  void give_up(const error_code& why);
  bool is_done() const;
  void finish() { handler_(std::move(all_)); }

  boost::asio::steady_timer& timer() noexcept { return timer_; }

 private:
  struct state {
    bool is_numeric = false;
    bool is_answered = false;
  };

  boost::asio::steady_timer timer_;  // ends the waiting
  std::vector<resolved_name> all_;
  std::vector<state> states_;  // of each
  resolve_handler handler_;
};

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
