// The recipes at and below one path, kept up to date by watches.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include "cluster/live_elections.hpp"
#include "cluster/live_groups.hpp"
#include "cluster/live_search.hpp"
#include "cluster/place.hpp"

namespace zkadmin {

/// Costs few requests while nothing changes: one to prove that what is shown is current, and a search of the whole tree
/// from time to time. The answer to that one request comes behind the notifications of everything that had changed
/// before, so what has not been notified has not changed.
class live_place final : public place {
 public:
  /// `tell.on_change` is also called when a search is due because something has changed. `proof_interval`: how old the
  /// proof may be.
  live_place(zkrecipes::session session, std::string root, live_elections::hooks tell,
             std::chrono::nanoseconds proof_interval);

  /// Whether something has changed that a search would find, or something that was found has not been read.
  bool is_search_due() const { return search_->is_due() || !elections_->is_ready(); }
  /// The next search looks at everything.
  void want_all() { search_->want_all(); }

  boost::asio::awaitable<void> search(deadline limit) override;
  std::vector<std::string> found(recipe which) const override { return search_->found(which); }
  void forget(recipe which, const std::string& path) override { search_->forget(which, path); }
  election_survey outline() const override;
  boost::asio::awaitable<election_survey> elections(deadline limit) override;
  boost::asio::awaitable<group_survey> groups(deadline limit) override;

  /// The same as far as it is known. Ask no server.
  election_survey known_elections();
  group_survey known_groups() const;

 private:
  boost::asio::awaitable<void> prove();

  zkrecipes::session session_;
  const std::string root_;
  const std::chrono::nanoseconds proof_interval_;
  std::shared_ptr<live_search> search_;
  std::shared_ptr<live_elections> elections_;
  std::shared_ptr<live_groups> groups_;
  std::chrono::steady_clock::time_point proof_due_{};
};

}  // namespace zkadmin
