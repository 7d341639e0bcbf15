#include "cluster/stored_record.hpp"

#include <boost/json/parse.hpp>

namespace zkadmin {

boost::json::object parse_stored(std::string_view data) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.allow_invalid_utf8 = true;
  auto value = boost::json::parse({data.data(), data.size()}, error, {}, options);
  if (error || !value.is_object()) return {};
  return std::move(value.get_object());
}

std::string text_field(const boost::json::object& record, std::string_view name) {
  const auto* field = record.if_contains({name.data(), name.size()});
  return field && field->is_string() ? std::string(field->get_string()) : std::string();
}

std::int64_t integer_field(const boost::json::object& record, std::string_view name) {
  const auto* field = record.if_contains({name.data(), name.size()});
  return field && field->is_int64() ? field->get_int64() : 0;
}

}  // namespace zkadmin
