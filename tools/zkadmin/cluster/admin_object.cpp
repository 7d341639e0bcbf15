#include "cluster/admin_object.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "text.hpp"

namespace zkadmin {

namespace json = boost::json;

std::optional<json::object> admin_object(std::string_view body, const char* command, std::string& trouble) {
  boost::system::error_code error;
  auto value = json::parse(json::string_view(body.data(), body.size()), error);
  const auto* object = error ? nullptr : value.if_object();
  const auto* named = object ? object->if_contains("command") : nullptr;
  if (!named || !named->is_string() || std::string_view(named->as_string()) != command) {
    trouble = "its answer is not that of an AdminServer, or is cut off";
    return std::nullopt;
  }
  const auto* refusal = object->if_contains("error");
  if (refusal && refusal->is_string()) {
    trouble = "it says: " + printable(shortened(std::string_view(refusal->as_string()), 200));
    return std::nullopt;
  }
  return std::move(value.as_object());
}

}  // namespace zkadmin
