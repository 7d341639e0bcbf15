#include "queue/dead_letter.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace zkrecipes::detail {

namespace json = boost::json;

namespace {

constexpr std::size_t longest_reason = 1000;

}  // namespace

std::string write_letter(const std::string& item, std::int32_t attempts, std::string_view reason,
                         std::string_view data) {
  const json::object about{{"item", item}, {"attempts", attempts}, {"reason", reason.substr(0, longest_reason)}};
  return (json::serialize(about) + '\n').append(data);
}

std::optional<dead_letter> read_letter(std::string_view text) {
  boost::system::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // the reason is the user's text and need not be UTF-8
  const auto end = std::min(text.find('\n'), text.size());
  auto value = json::parse(text.substr(0, end), error, {}, options);
  if (error || !value.is_object() || end == text.size()) return std::nullopt;
  const auto& about = value.as_object();
  const auto* item = about.if_contains("item");
  const auto* attempts = about.if_contains("attempts");
  const auto* reason = about.if_contains("reason");
  if (!item || !item->is_string() || !attempts || !attempts->is_int64() || !reason || !reason->is_string()) {
    return std::nullopt;
  }
  dead_letter letter;
  letter.item = item->as_string();
  letter.attempts = static_cast<std::int32_t>(attempts->as_int64());
  letter.reason = reason->as_string();
  letter.data = text.substr(end + 1);
  return letter;
}

}  // namespace zkrecipes::detail
