#include "commit/commit_path.hpp"

#include <string_view>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view path_kind = "two_phase_commit";
constexpr std::int64_t layout_with_marks = 2;

}  // namespace

std::optional<commit_layout> layout_of(const std::string& data) {
  if (data.empty()) return commit_layout::mixed;
  const auto object = json_object::parse(data);
  if (!object || !object->is(path_kind)) return std::nullopt;
  if (!object->has("layout")) return commit_layout::mixed;  // as older versions wrote it, which made no marks
  return object->integer("layout") == layout_with_marks ? std::optional(commit_layout::indexed) : std::nullopt;
}

std::string indexed_data(const std::string& present) {
  auto object = json_object::parse(present).value_or(json_object::of_kind(path_kind));
  return object.set("layout", layout_with_marks).to_text();
}

}  // namespace zkrecipes::detail
