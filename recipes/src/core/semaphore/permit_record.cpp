#include "semaphore/permit_record.hpp"

#include <algorithm>
#include <charconv>

#include <zkrecipes/semaphore.hpp>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view semaphore_kind = "semaphore";
/// The field that was the mark in older versions. It is still written, because they insist on it.
constexpr std::string_view old_mark = "recipe";
constexpr std::size_t prefix = 3 + 36 + 1;  // "_c_", the GUID, and a dash

bool is_permit_record(const json_object& object) {
  return object.is(semaphore_kind) || (!object.is_marked() && object.text(old_mark) == semaphore_kind);
}

std::optional<std::int32_t> permits_in(const json_object& object, std::string_view name) {
  const auto number = object.integer(name, 1, semaphore::max_permits);
  return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

bool must_wait(std::int64_t ahead, std::int32_t own, std::int32_t size) { return ahead + own > size && own <= size; }

}  // namespace

std::optional<permit_record> parse_permits(const std::string& data) {
  const auto object = json_object::parse(data, encoding::utf8);
  const auto size = object && is_permit_record(*object) ? permits_in(*object, "size") : std::nullopt;
  if (!size) return std::nullopt;
  return permit_record{*size, permits_in(*object, "before").value_or(0), permits_in(*object, "shrunk_from").value_or(0),
                       object->without({old_mark, "size", "before", "shrunk_from"})};
}

std::string serialize(const permit_record& record) {
  auto object = json_object::of_kind(semaphore_kind);
  object.set(old_mark, semaphore_kind).set("size", record.size);
  if (record.before) object.set("before", record.before);
  if (record.shrunk_from) object.set("shrunk_from", record.shrunk_from);
  return object.add(record.unknown_fields).to_text();
}

std::int32_t weight_of(const std::string& name) {
  std::int32_t weight = 0;
  if (name.size() <= prefix) return 0;
  auto [end, error] = std::from_chars(name.data() + prefix, name.data() + name.size(), weight);
  const bool whole = error == std::errc() && end != name.data() + name.size() && *end == '-';
  return whole && weight >= 1 && weight <= semaphore::max_permits ? weight : 0;
}

std::vector<bool> who_waits(std::span<const member> members, std::int32_t size) {
  std::vector<bool> waits;
  std::int64_t ahead = 0;
  for (const auto& each : members) {
    const auto own = weight_of(each.name);
    waits.push_back(must_wait(ahead, own, size));
    ahead += own;
  }
  return waits;
}

std::optional<stretch> who_fills(std::span<const member> members, std::size_t self, const permit_record& size) {
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
