#include "format/json_parts.hpp"

#include <optional>

#include "format/json_blank.hpp"
#include "format/json_text.hpp"

namespace zkrecipes::detail {

namespace {

/// A value ends before the comma or bracket of what is around it, or before a blank.
bool ends_value(char each) { return each == ',' || each == ']' || each == '}' || is_blank(each); }

}  // namespace

json_parts::json_parts(std::string_view text) : text_(text) {
  skip_blanks();
  has_names_ = text_[at_] == '{';
  ++at_;
}

bool json_parts::next() {
  skip_blanks();
  if (text_[at_] == ']' || text_[at_] == '}') return false;
  if (text_[at_] == ',') ++at_, skip_blanks();
  if (has_names_) read_name();
  read_value();
  return true;
}

void json_parts::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

void json_parts::read_name() {
  const auto begin = at_;
  at_ = end_of_string(text_, at_);
  name_ = text_.substr(begin + 1, at_ - begin - 2);
  if (name_.find('\\') != name_.npos) name_ = unescaped_ = unquoted(text_.substr(begin, at_ - begin)).value();
  skip_blanks();
  ++at_;  // the colon
  skip_blanks();
}

void json_parts::read_value() {
  const auto begin = at_;
  int depth = 0;
  has_blanks_ = false;
  do {
    const char each = text_[at_];
    at_ = each == '"' ? end_of_string(text_, at_) : at_ + 1;
    depth += (each == '{' || each == '[') - (each == '}' || each == ']');
    has_blanks_ |= is_blank(each);
  } while (depth > 0 || !ends_value(text_[at_]));
  value_ = text_.substr(begin, at_ - begin);
}

}  // namespace zkrecipes::detail
