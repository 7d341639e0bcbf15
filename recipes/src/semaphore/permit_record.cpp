// The data of a semaphore: its size in the node at the path, the weight of a member in its node's name.
#include <algorithm>
#include <charconv>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "semaphore/permits.hpp"

namespace zkrecipes::detail {

namespace json = boost::json;

namespace {

constexpr std::string_view recipe = "semaphore";
constexpr std::size_t prefix = 3 + 36 + 1;  // "_c_", the GUID, and a dash

std::optional<std::int32_t> permits_in(const json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  if (!value || !value->is_int64()) return std::nullopt;
  const auto number = value->as_int64();
  if (number < 1 || number > semaphore::max_permits) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

bool must_wait(std::int64_t ahead, std::int32_t own, std::int32_t size) { return ahead + own > size && own <= size; }

}  // namespace

std::optional<permit_record> parse_permits(const std::string& data) {
  boost::system::error_code error;
  const auto value = json::parse(data, error);
  if (error || !value.is_object()) return std::nullopt;
  const auto& object = value.as_object();
  const auto* kind = object.if_contains("recipe");
  const auto size = permits_in(object, "size");
  if (!kind || !kind->is_string() || kind->as_string() != recipe || !size) return std::nullopt;
  return permit_record{*size, permits_in(object, "before").value_or(0), permits_in(object, "shrunk_from").value_or(0)};
}

std::string serialize(const permit_record& record) {
  json::object object{{"recipe", recipe}, {"size", record.size}};
  if (record.before) object["before"] = record.before;
  if (record.shrunk_from) object["shrunk_from"] = record.shrunk_from;
  return json::serialize(object);
}

std::int32_t weight_of(const std::string& name) {
  std::int32_t weight = 0;
  if (name.size() <= prefix) return 0;
  auto [end, error] = std::from_chars(name.data() + prefix, name.data() + name.size(), weight);
  const bool whole = error == std::errc() && end != name.data() + name.size() && *end == '-';
  return whole && weight >= 1 && weight <= semaphore::max_permits ? weight : 0;
}

std::vector<bool> who_waits(const std::vector<member>& members, std::int32_t size) {
  std::vector<bool> waits;
  std::int64_t ahead = 0;
  for (const auto& each : members) {
    const auto own = weight_of(each.name);
    waits.push_back(must_wait(ahead, own, size));
    ahead += own;
  }
  return waits;
}

std::optional<stretch> who_fills(const std::vector<member>& members, std::size_t self, const permit_record& size) {
  std::int64_t ahead = 0;
  for (std::size_t i = 0; i < self; ++i) ahead += weight_of(members[i].name);
  const auto own = weight_of(members[self].name);
  if (!must_wait(ahead, own, size.size)) return std::nullopt;
  // The member directly ahead waits as well. So it is enough to watch its node, which changes when it is let in or
  // leaves.
  if (ahead > std::max(size.size, size.shrunk_from) && !members[self - 1].lets_pass) return stretch(self - 1);
  return stretch(0, self);
}

}  // namespace zkrecipes::detail
