#include "live/recipe_fixture.hpp"

#include <utility>

#include <boost/json/parse.hpp>

#include "base/text.hpp"

using namespace zkrecipes::test;
namespace json = boost::json;

void recipe_fixture::teardown() {
  for (const auto& each : made_)
    if (contains(each)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(each, tuple))), each);
  admin_fixture::teardown();
}

json::value recipe_fixture::list(const std::string& kind, std::vector<std::string> more, int code) {
  std::vector<std::string> words{"recipes", "-o", "json"};
  if (!kind.empty()) words.insert(words.end(), {"--kind", kind});
  words.insert(words.end(), more.begin(), more.end());
  const auto result = zkadmin(std::move(words));
  BOOST_TEST(result.code == code, result.code << ": " << result.err);
  return json::parse(result.out).at("recipes");
}

json::object recipe_fixture::recipe_at(const std::string& path, std::vector<std::string> more, int code) {
  const auto all = list("", std::move(more), code);
  for (const auto& each : all.as_array())
    if (each.at("path").as_string() == root() + path) return each.as_object();
  BOOST_FAIL("not listed: " + path);
  return {};
}

std::string recipe_fixture::roles_of(const json::object& recipe) {
  std::string text;
  for (const auto& each : recipe.at("participants").as_array()) {
    const auto& name = each.at("id").is_null() ? each.at("node") : each.at("id");
    text += (text.empty() ? "" : ", ") + std::string(each.at("role").as_string()) + " " + std::string(name.as_string());
  }
  return text;
}

std::string recipe_fixture::session_text(const zkrecipes::session& of) {
  return zkadmin::hexadecimal(static_cast<std::uint64_t>(of.status().session_id));
}
