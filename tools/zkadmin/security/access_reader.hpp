// The access rights at recipes, as they were read.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/node.hpp>
#include <zkrecipes/session.hpp>

#include "cluster/recipe_survey.hpp"
#include "cluster/recognize.hpp"
#include "cluster/status.hpp"
#include "cluster/tree_search.hpp"

namespace zkadmin {

struct node_access {
  std::string path;
  zkrecipes::acl rights;
};

struct recipe_rights {
  recipe which = recipe::none;  ///< None: a node that was asked for, and is no recipe.
  std::string path;
  std::optional<zkrecipes::acl> own{};  ///< Nothing: not known; a note says why.
  std::vector<node_access> nodes{};     ///< The nodes below it that were looked at.
};

/// Where a priority queue has what is no item. docs/formats.md.
inline std::string side_of_queue(const std::string& path) { return path == "/" ? "/-side" : path + "-side"; }

struct access_survey {
  std::vector<recipe_rights> recipes{};
  std::vector<node_access> parents{};  ///< Those of the recipes, and the roots that were searched.
  std::vector<survey_note> notes{};    ///< The gaps, and why.
};

// Reads the ACLs of recipes and of the nodes below them.

struct access_limits {
  std::size_t children = 1'000;  ///< Below one node.
  std::size_t nodes = 2'000;     ///< In one recipe.
  std::size_t total = 20'000;
  std::size_t levels = 3;  ///< Below a recipe's path.
};

/// One look, level by level for all recipes together. If a node has more children than the limit, as many are looked
/// at, evenly spaced in the order of their names. It notes what it has left out.
class access_reader {
 public:
  /// `roots`: nodes whose rights are read as those of the recipes' parents are.
  access_reader(zkrecipes::session session, const std::vector<recipe_site>& sites, std::vector<std::string> roots,
                access_limits limits = {});

  /// Sends nothing after the deadline. Throws `failure`.
  boost::asio::awaitable<void> run(deadline limit);

  /// What has been read so far.
  access_survey survey() const;

 private:
  struct place {
    std::size_t site;
    std::string path;
    bool has_children;  ///< It may have some, by its name.
  };
  boost::asio::awaitable<void> visit(const place& at, std::size_t level);
  boost::asio::awaitable<void> read_parent(const std::string& path);
  /// Nothing: it is not known, or the node has gone.
  boost::asio::awaitable<std::optional<zkrecipes::acl>> read_acl(std::string path);
  boost::asio::awaitable<void> list(const place& at, std::size_t level);
  void plan(const place& at, std::vector<std::string> names, std::size_t level);
  void keep(const place& at, zkrecipes::acl rights);
  void add_sides();
  void refuse(const std::string& path);
  bool is_late();

  zkrecipes::session session_;
  access_limits limits_;
  deadline limit_;
  std::vector<recipe_rights> recipes_;
  std::vector<std::string> parent_paths_;
  std::vector<node_access> parents_;
  std::set<std::string> site_paths_;
  std::vector<std::vector<place>> levels_;
  std::vector<std::size_t> planned_;  ///< Nodes of each recipe.
  std::size_t total_ = 0;
  std::set<std::string> refused_;
  std::map<std::string, std::size_t> left_;  ///< How many children of a node were not looked at.
  std::map<std::string, std::size_t> deep_;  ///< How many children of a node are below the last level.
  std::size_t late_ = 0;                     ///< Nodes for which there was no time.
};

}  // namespace zkadmin
