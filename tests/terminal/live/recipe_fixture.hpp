// A fixture that asks `zkadmin recipes`, and removes what a case has made.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "live/admin_fixture.hpp"

class recipe_fixture : public admin_fixture {
 public:
  void teardown();

  /// This path is removed at the end, with all below it.
  void removes(const std::string& path) { made_.push_back(path); }

  /// The recipes that are listed, of one kind if it is not empty. The case fails if the exit code is not `code`.
  boost::json::value list(const std::string& kind = "", std::vector<std::string> more = {}, int code = 0);

  /// The recipe at this path below our root. The case fails if it is not listed.
  boost::json::object recipe_at(const std::string& path, std::vector<std::string> more = {}, int code = 0);

  /// "holder a, waiter b".
  static std::string roles_of(const boost::json::object& recipe);

  /// As zkadmin prints it.
  static std::string session_text(const zkrecipes::session& of);

 private:
  std::vector<std::string> made_;
};
