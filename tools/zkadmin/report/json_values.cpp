#include "report/json_values.hpp"

#include <algorithm>
#include <cstdint>

#include <boost/json/serialize.hpp>

#include "format/shown_text.hpp"

namespace zkadmin {

boost::json::value plain_number(double value) {
  const auto whole = static_cast<std::int64_t>(std::clamp(value, -1e15, 1e15));
  return static_cast<double>(whole) == value ? boost::json::value(whole) : boost::json::value(value);
}

std::string json_line(const boost::json::object& document) {
  return zkrecipes::detail::coded_json(boost::json::serialize(document)) + "\n";
}

boost::json::array note_array(const std::vector<survey_note>& notes) {
  boost::json::array all;
  for (const auto& each : notes) all.push_back({{"path", well_formed(each.path)}, {"text", well_formed(each.text)}});
  return all;
}

}  // namespace zkadmin
