#include "cluster/recognize.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <string>

namespace zkadmin {

bool is_candidate_name(std::string_view name) noexcept {
  constexpr std::string_view begin = "_c_";
  constexpr std::string_view middle = "-latch-";
  constexpr std::size_t digits = 10;
  if (name.size() <= begin.size() + middle.size() + digits || !name.starts_with(begin)) return false;
  const auto number = name.substr(name.size() - digits);
  name.remove_suffix(digits);
  return name.ends_with(middle) &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_term_record(std::string_view data) {
  boost::json::error_code error;
  const auto value = boost::json::parse({data.data(), data.size()}, error);
  if (error || !value.is_object()) return false;
  const auto* kind = value.get_object().if_contains("zkrecipes");
  return kind && kind->is_string() && kind->get_string() == "term";
}

}  // namespace zkadmin
