// Watches the election from outside and keeps the history of terms.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/election.hpp>

namespace demo {

struct term_history {
  std::int64_t epoch = 0;
  std::string leader;
  /// The fault that ended it: "resign", "kill" or "pause"; "died" if a message killed the process; else "end" for the
  /// last term, or "other".
  std::string ended;
  std::string takeover;  ///< How it began; "unseen" if the observer missed it.
  double gap_ms = 0;     ///< From the last result of the term before to the first of this term, by the servers' clock.
};

class observer {
 public:
  observer(zkrecipes::session session, std::function<void(const std::string&)> say);

  /// Runs until the session is closed.
  boost::asio::awaitable<void> run();

  const zkrecipes::election_view& view() const noexcept { return view_; }
  std::map<std::int64_t, term_history>& terms() noexcept { return terms_; }
  bool saw_hand_over() const noexcept { return saw_hand_over_; }

 private:
  void on_view(const zkrecipes::election_view& next);

  zkrecipes::session session_;
  std::function<void(const std::string&)> say_;
  zkrecipes::election_view view_;
  std::map<std::int64_t, term_history> terms_;
  bool saw_hand_over_ = false;
};

}  // namespace demo
