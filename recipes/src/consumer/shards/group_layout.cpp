#include "shards/group_layout.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

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

std::optional<std::string> group_layout::id_of(std::string_view name) {
  std::string id;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      id += name[i];
      continue;
    }
    unsigned char byte = 0;
    const auto* const digits = name.data() + i + 1;
    const bool is_whole = i + 2 < name.size();
    if (!is_whole || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    id += static_cast<char>(byte);
    i += 2;
  }
  return file_name(id) == name ? std::optional(std::move(id)) : std::nullopt;
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
