// Finds and reads all recipes that have rules for problems.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/collector.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/recipe_survey.hpp"
#include "settings/recipe_kind.hpp"

namespace zkadmin {

/// One operation at a time. After its deadline an operation sends no further requests, and what was left out is noted.
class inspector {
 public:
  /// Looks at and below each of the roots, at the queues, and at the recipes that are declared.
  inspector(zkrecipes::session session, const std::vector<std::string>& roots, std::vector<std::string> queues,
            wanted_kinds kinds, std::vector<declared_recipe> recipes = {});

  /// Searches the tree. Throws `failure`.
  boost::asio::awaitable<void> search(deadline limit);

  /// Whether the last search has left nothing out.
  bool is_complete() const noexcept;

  /// Reads what the last search has found. A kind that can not be read is missing in the findings, and `trouble` says
  /// why. Does not touch the servers there.
  boost::asio::awaitable<void> read(findings& into, deadline limit);

 private:
  boost::asio::awaitable<void> read_queues(findings& into, deadline limit);
  boost::asio::awaitable<void> read_others(findings& into, deadline limit);

  zkrecipes::session session_;
  wanted_kinds kinds_;
  std::vector<std::string> queues_;
  std::vector<declared_recipe> declared_;
  std::vector<std::unique_ptr<collector>> places_;
};

}  // namespace zkadmin
