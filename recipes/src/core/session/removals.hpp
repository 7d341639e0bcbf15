// Nodes of a session that are removed in the background, until they are gone.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "session/requests.hpp"

namespace zkrecipes::detail {

/// A removal that goes on in the background.
struct removal {
  explicit removal(scheduler_ptr s) : changed(std::move(s)) {}
  error_code answer;     ///< The answer to the latest try.
  bool is_over = false;  ///< The node is gone, or goes with its session.
  condition changed;
};

using removal_ptr = std::shared_ptr<removal>;

/// On the strand.
class removals {
 public:
  removals(session_life& whose, requests& through) : life_(whose), requests_(through) {}

  /// Removes a node in the background. Tries again until the server says that the node is gone, or `bound` ends; if the
  /// server refuses or is too busy, with growing pauses. `first`: the first try, if it has been sent already.
  removal_ptr remove_surely(std::string path, incarnation_ptr bound, exchange_ptr first = nullptr);
  /// Does the same with every child of `parent` that has `guid` in its name.
  void remove_all_surely(std::string parent, std::string guid, incarnation_ptr bound);

  /// A GUID for a node of ours in a line. All such GUIDs of this object begin alike, so a node is told from others in
  /// the name of the same session for as long as `whose` lives: see `remove_orphans`.
  std::string make_own_guid(std::weak_ptr<const void> whose);
  /// `names` stand in the line at `parent`. Removes in the background what belongs to this session and no object knows
  /// of: a node that was removed, and that a restored backup has brought back.
  void remove_orphans(const std::string& parent, const std::vector<std::string>& names);

 protected:
  ~removals() = default;

 private:
  std::shared_ptr<removals> owned();
  std::string own_guid_in(const std::string& path) const;

  session_life& life_;
  requests& requests_;
  std::string own_mark_;                                        // with it all GUIDs of nodes of ours begin
  std::map<std::string, std::weak_ptr<const void>> own_guids_;  // and whose they are
  std::size_t most_own_guids_ = 64;                             // then those whose owner has gone are forgotten
};

}  // namespace zkrecipes::detail
