// The members of a JSON object, or the elements of an array, one after the other.
#pragma once

#include <string>
#include <string_view>

namespace zkrecipes::detail {

/// Goes through the text of an object or of an array, which has to be JSON (is_json). Keeps no copy of it.
class json_parts {
 public:
  explicit json_parts(std::string_view text);

  /// Goes to the next part; false behind the last one. The first call goes to the first part.
  bool next();

  /// The name of a member; empty in an array. Valid until the next part.
  std::string_view name() const { return name_; }
  /// The part's value, as it is written.
  std::string_view value() const { return value_; }
  /// Whether there are blanks between the tokens of the value.
  bool has_blanks() const { return has_blanks_; }

 private:
  void skip_blanks();
  void read_name();
  void read_value();

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_names_ = false;
  std::string_view name_;
  std::string unescaped_;  ///< What the name refers to if it is written with escapes.
  std::string_view value_;
  bool has_blanks_ = false;
};

}  // namespace zkrecipes::detail
