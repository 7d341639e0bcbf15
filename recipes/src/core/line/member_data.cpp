#include "line/member_data.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view member_kind = "member";
constexpr std::string_view curators_request = "__REVOKE__";  // as Curator's Revoker writes it

/// The data as an object, to be written again: any other text is an id.
json_object parse_member(const std::string& data) {
  auto object = json_object::parse(data);
  return object ? std::move(*object) : json_object::of_kind(member_kind).set("id", data);
}

}  // namespace

std::optional<json_object> read_member(const std::string& data) {
  return data.starts_with('{') ? json_object::parse(data) : std::nullopt;
}

bool has_flag(const std::string& data, std::string_view name) {
  const auto object = read_member(data);
  return object && object->flag(name).value_or(false);
}

std::string id_data(const std::string& id) {
  const bool is_plain = !id.starts_with('{') && id != curators_request;
  return is_plain ? id : json_object::of_kind(member_kind).set("id", id).to_text();
}

std::string revocable_data(const std::string& id) {
  return json_object::of_kind(member_kind).set("id", id).set_flag("revocable", true).to_text();
}

bool is_revocable(const std::string& data) { return has_flag(data, "revocable"); }

std::string with_revocation(const std::string& data, std::chrono::milliseconds grace) {
  // The owner may not have heard yet of who asked before: what ends first has to stand there.
  if (asks_revocation(data)) grace = std::min(grace, grace_of(data));
  auto object = parse_member(data);
  object.set_flag("revoke", true);
  if (grace == any_grace) {
    object.erase("grace_ms");
  } else {
    object.set("grace_ms", grace.count());
  }
  return object.to_text();
}

bool asks_revocation(const std::string& data) { return data == curators_request || has_flag(data, "revoke"); }

std::chrono::milliseconds grace_of(const std::string& data) {
  const auto object = read_member(data);
  const auto grace = object ? object->time("grace_ms") : std::nullopt;
  return grace.value_or(any_grace);
}

std::string with_shared(const std::string& data) { return parse_member(data).set_flag("shared", true).to_text(); }

bool is_shared(const std::string& data) { return has_flag(data, "shared"); }

std::string member_id(const std::string& data) {
  const auto object = read_member(data);
  return object ? object->text("id").value_or(data) : data;
}

}  // namespace zkrecipes::detail
