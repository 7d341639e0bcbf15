// A fixture that asks `zkadmin recipes`, and removes what a case has made.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
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

// A fixture that asks `zkadmin streams`.

class stream_fixture : public recipe_fixture {
 public:
  std::string at(const std::string& path) const { return root() + path; }

  /// What `streams -o json` prints of the source at this path below our root.
  boost::json::object stream_at(const std::string& path, std::vector<std::string> more = {}, int code = 0) {
    std::vector<std::string> words{"streams", at(path), "-o", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = zkadmin(std::move(words));
    BOOST_TEST(result.code == code, result.err);
    const auto document = boost::json::parse(result.out);
    BOOST_TEST_REQUIRE(document.at("streams").as_array().size() == 1u);
    return document.at("streams").at(0).as_object();
  }
  program_result check(const std::string& path, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"check", "--only", at(path)};
    words.insert(words.end(), more.begin(), more.end());
    return zkadmin(std::move(words));
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
};
