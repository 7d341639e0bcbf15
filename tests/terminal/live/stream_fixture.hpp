// A fixture that asks `zkadmin streams`.
#pragma once

#include <string>
#include <vector>

#include <boost/json/parse.hpp>

#include "live/recipe_fixture.hpp"

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
