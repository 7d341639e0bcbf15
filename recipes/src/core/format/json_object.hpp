// The one reader and writer of JSON in the library. docs/formats.md describes all records that are stored.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zkrecipes::detail {

// JSON as text: checked by one validator, then taken apart and put together without reading a number or a string that
// nobody asks for. So a value that is carried on stays as it was written.

/// Which bytes a JSON text may contain.
enum class encoding {
  any,   ///< For records that hold ids, reasons or data of the user, which need not be UTF-8.
  utf8,  ///< For records without such text, and for the format of Curator's clients, who read UTF-8 only.
};

/// Whether the text is exactly one JSON value, nested at most 32 levels deep. The functions below expect such a text,
/// or a value within it.
bool is_json(std::string_view text, encoding allowed);

/// The same text without the blanks around it and between its tokens.
std::string without_blanks(std::string_view json);

/// The place behind the string that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at);

/// Appends the JSON string of these bytes, as Boost.JSON writes it.
void append_quoted(std::string& text, std::string_view bytes);

/// The value of a string; nothing if it is none.
std::optional<std::string> unquoted(std::string_view json);

/// The value of a whole number, in any notation; nothing for 7.5, for "7", and beyond 64 bits.
std::optional<std::int64_t> whole_number(std::string_view json);

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

// What may stand between the tokens of JSON.

constexpr bool is_blank(char each) { return each == ' ' || each == '\n' || each == '\t' || each == '\r'; }

/// A JSON object with getters that check the types. A getter returns nothing if the field is missing, has another type,
/// or is out of bounds. A field that is not set anew is written as it was read, but for blanks: any number keeps its
/// digits, of any length, and any string its escapes.
class json_object {
 public:
  json_object() = default;
  /// A new record: an object whose first field is the mark of its kind.
  static json_object of_kind(std::string_view kind);
  /// Nothing if the text is not exactly one JSON object, or is nested more than 32 levels deep. If a field is there
  /// twice, the last one counts.
  static std::optional<json_object> parse(std::string_view text, encoding allowed = encoding::any);

  /// Whether this record has the mark of this kind: the field "zkrecipes".
  bool is(std::string_view kind) const;
  /// Whether there is a mark. Old versions have written some records without one.
  bool is_marked() const;

  bool has(std::string_view name) const { return !find(name).empty(); }
  /// The names of all fields.
  std::vector<std::string> names() const;
  std::optional<std::string> text(std::string_view name) const;
  /// A whole number. The notation does not matter: 3, 3.0 and 3e0 are the same number.
  std::optional<std::int64_t> integer(std::string_view name,
                                      std::int64_t smallest = std::numeric_limits<std::int64_t>::min(),
                                      std::int64_t largest = std::numeric_limits<std::int64_t>::max()) const;
  /// A span of time in milliseconds, not negative.
  std::optional<std::chrono::milliseconds> time(
      std::string_view name, std::chrono::milliseconds longest = std::chrono::milliseconds::max()) const;
  std::optional<bool> flag(std::string_view name) const;
  std::optional<std::vector<std::string>> texts(std::string_view name) const;
  std::optional<std::vector<std::int32_t>> integers(std::string_view name) const;
  std::optional<json_object> object(std::string_view name) const;
  /// The elements of an array as JSON, whatever their types.
  std::optional<std::vector<std::string>> elements(std::string_view name) const;
  /// The value as JSON, whatever its type; empty if the field is missing.
  std::string raw(std::string_view name) const;

  json_object& set(std::string_view name, std::string_view value);
  json_object& set(std::string_view name, std::int64_t value);
  json_object& set(std::string_view name, const std::vector<std::string>& values);
  json_object& set(std::string_view name, const std::vector<std::int32_t>& values);
  json_object& set(std::string_view name, const json_object& value);
  /// Sets the field to an array of these elements, each of which is JSON as it came from elements() or to_text().
  json_object& set_elements(std::string_view name, const std::vector<std::string>& elements);
  json_object& set_flag(std::string_view name, bool value);
  json_object& set_null(std::string_view name);
  /// Sets the field to any value, given as JSON in UTF-8. False if it is not JSON; then nothing is changed.
  bool set_raw(std::string_view name, std::string_view value);
  json_object& erase(std::string_view name);

  /// Removes all fields whose value is null, for formats in which a null means that the field is missing.
  json_object& drop_nulls();
  /// The other fields of a record, without its mark: those that this version does not know. They are kept when the
  /// record is written again.
  json_object without(std::initializer_list<std::string_view> known) const;
  /// Adds the fields of `more` that are not there.
  json_object& add(const json_object& more);

  std::string to_text() const;

  /// Whether the same fields have the same texts, in any order.
  friend bool operator==(const json_object&, const json_object&) = default;

 private:
  /// From the text of an object.
  explicit json_object(std::string_view text);
  /// The value of a field as JSON; empty if it is missing.
  std::string_view find(std::string_view name) const;
  json_object& put(std::string_view name, std::string value);

  json_fields fields_;
};

}  // namespace zkrecipes::detail
