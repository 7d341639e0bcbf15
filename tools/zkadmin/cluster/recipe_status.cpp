#include "cluster/recipe_status.hpp"

#include "text.hpp"

namespace zkadmin {
namespace {

struct text_of_value {
  std::string operator()(std::monostate) const { return "?"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::chrono::milliseconds value) const { return short_duration(value); }
  std::string operator()(const std::string& value) const { return value.empty() ? "-" : value; }
};

}  // namespace

std::string to_text(const fact_value& value) { return std::visit(text_of_value(), value); }

const char* to_string(recipe_access access) noexcept {
  switch (access) {
    case recipe_access::readable: return "readable";
    case recipe_access::foreign_data: return "foreign_data";
    case recipe_access::no_access: return "no_access";
    case recipe_access::missing: return "missing";
  }
  return "readable";
}

std::string kind_text(const recipe_status& status) {
  std::string text;
  for (const auto each : status.kinds) text += (text.empty() ? "" : " or ") + std::string(to_string(each));
  return text;
}

const std::string& label(const participant_status& who) noexcept { return who.id.empty() ? who.node : who.id; }

}  // namespace zkadmin
