#include "line/member_data.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace zkrecipes::detail {

namespace json = boost::json;

namespace {

/// The data of a member as an object: what is not JSON is an id.
json::object parse_member(const std::string& data) {
  boost::system::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // ids are what somebody chose to write
  auto value = json::parse(data, error, {}, options);
  if (!error && value.is_object()) return std::move(value.as_object());
  return {{"id", data}};
}

bool has_true(const std::string& data, std::string_view name) {
  if (data.empty() || data.front() != '{') return false;
  const auto object = parse_member(data);
  const auto* value = object.if_contains(name);
  return value && value->is_bool() && value->as_bool();
}

}  // namespace

std::string revocable_data(const std::string& id) {
  const json::object object{{"id", id}, {"revocable", true}};
  return json::serialize(object);
}

bool is_revocable(const std::string& data) { return has_true(data, "revocable"); }

std::string with_revocation(const std::string& data, std::chrono::milliseconds grace) {
  // The owner may not have heard yet of who asked before: what ends first has to stand there.
  if (asks_revocation(data)) grace = std::min(grace, grace_of(data));
  auto object = parse_member(data);
  object["revoke"] = true;
  if (grace == any_grace) {
    object.erase("grace_ms");
  } else {
    object["grace_ms"] = grace.count();
  }
  return json::serialize(object);
}

bool asks_revocation(const std::string& data) {
  return data == "__REVOKE__" || has_true(data, "revoke");  // the first: as Curator's Revoker writes it
}

std::chrono::milliseconds grace_of(const std::string& data) {
  if (data.empty() || data.front() != '{') return any_grace;
  auto object = parse_member(data);
  const auto* grace = object.if_contains("grace_ms");
  return grace && grace->is_int64() && grace->as_int64() >= 0 ? std::chrono::milliseconds(grace->as_int64())
                                                              : any_grace;
}

std::string with_shared(const std::string& data) {
  auto object = parse_member(data);
  object["shared"] = true;
  return json::serialize(object);
}

bool is_shared(const std::string& data) { return has_true(data, "shared"); }

std::string member_id(const std::string& data) {
  if (data.empty() || data.front() != '{') return data;
  auto object = parse_member(data);
  const auto* id = object.if_contains("id");
  return id && id->is_string() ? std::string(id->as_string()) : data;
}

}  // namespace zkrecipes::detail
