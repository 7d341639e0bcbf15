// The fields of a JSON object in their order, found by name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zkrecipes::detail {

/// The text of each field's value by its name. Records have few fields, among which a search needs no index; an object
/// with many (the members of a shard map) gets one.
class json_fields {
 public:
  struct field {
    std::string name;
    std::string value;
    friend bool operator==(const field&, const field&) = default;
  };

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  void reserve(std::size_t count) { all_.reserve(count); }

  /// The value of a field; null if it is missing.
  const std::string* find(std::string_view name) const;
  /// Puts a field behind the others, or in the place of the one with its name.
  void put(std::string_view name, std::string value);
  /// Does nothing if the field is there.
  void add(const field& one);
  template <class Condition>
  void erase_if(Condition condition) {
    if (std::erase_if(all_, condition) > 0) rebuild_index();
  }

  friend bool operator==(const json_fields& one, const json_fields& other);

 private:
  static constexpr std::size_t most_without_index = 16;

  std::size_t place_of(std::string_view name) const;
  void append(std::string_view name, std::string value);
  void rebuild_index();

  std::vector<field> all_;
  std::unordered_map<std::string, std::size_t> places_;  ///< Empty if there are few fields.
};

}  // namespace zkrecipes::detail
