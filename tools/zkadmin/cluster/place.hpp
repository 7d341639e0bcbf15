// The recipes at and below one path.
#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "cluster/group_status.hpp"
#include "cluster/status.hpp"
#include "cluster/tree_search.hpp"

namespace zkadmin {

/// One operation at a time; each throws `failure`. After the deadline no further requests are sent, and the survey is
/// marked as incomplete.
class place {
 public:
  place() = default;
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  virtual ~place() = default;

  /// Finds new recipes, and forgets those that are gone, as far as the search was complete.
  virtual boost::asio::awaitable<void> search(deadline limit) = 0;

  /// The paths of this recipe that the last search has found.
  virtual std::vector<std::string> found(recipe which) const = 0;
  /// It is not there any more. A search that is not complete would go on with it.
  virtual void forget(recipe which, const std::string& path) = 0;
  /// What the last search has left out, without any recipes.
  virtual election_survey outline() const = 0;

  /// The state of the elections that were found.
  virtual boost::asio::awaitable<election_survey> elections(deadline limit) = 0;
  /// The state of the shard groups that were found. A group that can not be read is noted.
  virtual boost::asio::awaitable<group_survey> groups(deadline limit) = 0;
};

}  // namespace zkadmin
