#include "cluster/stored_record.hpp"

namespace zkadmin {

using zkrecipes::detail::json_object;

json_object parse_stored(std::string_view data) { return json_object::parse(data).value_or(json_object()); }

std::string text_field(const json_object& record, std::string_view name) {
  return record.text(name).value_or(std::string());
}

std::int64_t integer_field(const json_object& record, std::string_view name) {
  return record.integer(name).value_or(0);
}

}  // namespace zkadmin
