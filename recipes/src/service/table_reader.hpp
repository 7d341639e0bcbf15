// Reads the fields of one table of the configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

namespace zkrecipes::service {

/// Each function that reads a field returns nothing if it is missing, and throws `configuration_error` with file, line
/// and field if its value is wrong.
class table_reader {
 public:
  /// `name`: that of the table, for messages; empty for the file itself.
  table_reader(std::string file, const toml::table& fields, std::string name);

  std::optional<std::string> text(std::string_view field);
  /// An absolute path of ZooKeeper, such as "/orders".
  std::optional<std::string> path(std::string_view field);
  std::optional<std::int64_t> number(std::string_view field, std::int64_t low, std::int64_t high);
  /// Text such as "500ms", "10s", "2m", "1h".
  std::optional<std::chrono::milliseconds> duration(std::string_view field, std::chrono::milliseconds low,
                                                    std::chrono::milliseconds high);
  template <class Value>
  std::optional<Value> choice(std::string_view field, const std::vector<std::pair<std::string, Value>>& choices);
  std::optional<table_reader> table(std::string_view field);

  std::vector<std::string> names() const;

  /// Refuses fields that nobody has asked for: they are misspelt.
  void end() const;
  /// Throws the error of a field, also of one that is missing.
  [[noreturn]] void refuse(std::string_view field, const std::string& problem) const;

 private:
  const toml::node* find(std::string_view field);

  std::string file_;
  const toml::table& fields_;
  std::string name_;
  std::set<std::string, std::less<>> asked_;
};

template <class Value>
std::optional<Value> table_reader::choice(std::string_view field,
                                          const std::vector<std::pair<std::string, Value>>& choices) {
  const auto given = text(field);
  if (!given) return std::nullopt;
  std::string known;
  for (const auto& [name, value] : choices) {
    if (name == *given) return value;
    known += (known.empty() ? "\"" : ", \"") + name + "\"";
  }
  refuse(field, "\"" + *given + "\" is not known: give one of " + known);
}

}  // namespace zkrecipes::service
