#pragma once

#include <vector>

#include <boost/asio/any_io_executor.hpp>
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
  void note(const host_answer& what);
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

}  // namespace zkrecipes::backend
