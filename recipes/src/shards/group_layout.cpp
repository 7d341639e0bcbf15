#include "shards/group_layout.hpp"

#include <algorithm>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view group_kind = "shards";
constexpr std::string_view hash_name = "crc32";
const std::string_view member_markers[] = {"member-"};

}  // namespace

line_spec group_layout::line() const {
  line_spec all{members(), "member-", member_markers};
  all.one_by_one = true;
  return all;
}

std::string group_layout::file_name(const std::string& id) {
  std::string name;
  const bool has_only_dots = id.find_first_not_of('.') == id.npos;
  for (const char each : id) {
    const auto byte = static_cast<unsigned char>(each);
    const bool is_plain = byte > 0x20 && byte < 0x7f && each != '/' && each != '%' && !(each == '.' && has_only_dots);
    if (is_plain) {
      name += each;
    } else {
      constexpr std::string_view digits = "0123456789ABCDEF";
      name += {'%', digits[byte / 16], digits[byte % 16]};
    }
  }
  return name;
}

std::string group_data(std::uint32_t shards) {
  return json_object::of_kind(group_kind).set("count", std::int64_t(shards)).set("hash", hash_name).to_text();
}

group_size read_group_data(const std::string& data) {
  const auto object = json_object::parse(data);
  if (!object || !object->is(group_kind) || object->text("hash") != hash_name) return {};
  const auto count = object->integer("count", 1, most_shards);
  return {count.has_value(), static_cast<std::uint32_t>(count.value_or(0))};
}

}  // namespace zkrecipes::detail
