#include "table_reader.hpp"

#include <charconv>

#include <zkrecipes/service/configuration.hpp>

namespace zkrecipes::service {
namespace {

using std::chrono::milliseconds;

std::optional<milliseconds> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || count < 0 || count > 1'000'000'000) return std::nullopt;
  if (unit == "ms") return milliseconds(count);
  if (unit == "s") return milliseconds(count * 1'000);
  if (unit == "m") return milliseconds(count * 60'000);
  if (unit == "h") return milliseconds(count * 3'600'000);
  return std::nullopt;
}

std::string show(milliseconds length) {
  return length.count() % 1'000 == 0 ? std::to_string(length.count() / 1'000) + "s"
                                     : std::to_string(length.count()) + "ms";
}

bool is_path(std::string_view text) {
  return text.size() >= 2 && text.front() == '/' && text.back() != '/' && text.find("//") == std::string_view::npos;
}

}  // namespace

table_reader::table_reader(std::string file, const toml::table& fields, std::string name)
    : file_(std::move(file)), fields_(fields), name_(std::move(name)) {}

std::optional<std::string> table_reader::text(std::string_view field) {
  const auto* node = find(field);
  if (!node) return std::nullopt;
  auto value = node->value_exact<std::string>();
  if (!value) refuse(field, "is no text: put it in quotation marks");
  if (value->empty()) refuse(field, "is empty: give a text, or remove the line");
  return value;
}

std::optional<std::string> table_reader::path(std::string_view field) {
  auto value = text(field);
  if (value && !is_path(*value))
    refuse(field, "\"" + *value +
                      "\" is no path: give one that begins with a slash and does not end with one, such as "
                      "\"/orders\"");
  return value;
}

std::optional<std::int64_t> table_reader::number(std::string_view field, std::int64_t low, std::int64_t high) {
  const auto* node = find(field);
  if (!node) return std::nullopt;
  const std::string cure = "give a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  const auto value = node->value_exact<std::int64_t>();
  if (!value) refuse(field, "is no number: " + cure + ", without quotation marks");
  if (*value < low || *value > high) refuse(field, std::to_string(*value) + " is out of bounds: " + cure);
  return value;
}

std::optional<milliseconds> table_reader::duration(std::string_view field, milliseconds low, milliseconds high) {
  const auto given = text(field);
  if (!given) return std::nullopt;
  const auto value = parse_duration(*given);
  if (!value)
    refuse(field, "\"" + *given + "\" is no duration: give a number and a unit, such as \"500ms\", \"10s\" or \"2m\"");
  if (*value < low || *value > high)
    refuse(field, "\"" + *given + "\" is out of bounds: give \"" + show(low) + "\" to \"" + show(high) + "\"");
  return value;
}

std::optional<table_reader> table_reader::table(std::string_view field) {
  const auto* node = find(field);
  if (!node) return std::nullopt;
  const auto* fields = node->as_table();
  if (!fields) refuse(field, "is no table: write [" + (name_.empty() ? "" : name_ + ".") + std::string(field) + "]");
  return table_reader(file_, *fields, (name_.empty() ? "" : name_ + ".") + std::string(field));
}

std::vector<std::string> table_reader::names() const {
  std::vector<std::string> all;
  for (const auto& [field, value] : fields_) all.emplace_back(field.str());
  return all;
}

void table_reader::end() const {
  for (const auto& [field, value] : fields_) {
    if (asked_.contains(field.str())) continue;
    std::string known;
    for (const auto& each : asked_) known += (known.empty() ? "" : ", ") + each;
    refuse(field.str(), "is not known: correct its name, or remove it. Known here: " + known);
  }
}

void table_reader::refuse(std::string_view field, const std::string& problem) const {
  const auto* node = fields_.get(field);
  const auto line = node ? node->source().begin.line : fields_.source().begin.line;
  throw configuration_error(file_ + ":" + std::to_string(line) + ": " + (name_.empty() ? "" : name_ + ".") +
                            std::string(field) + ": " + problem);
}

const toml::node* table_reader::find(std::string_view field) {
  asked_.emplace(field);
  return fields_.get(field);
}

}  // namespace zkrecipes::service
