// What may stand between the tokens of JSON.
#pragma once

namespace zkrecipes::detail {

constexpr bool is_blank(char each) { return each == ' ' || each == '\n' || each == '\t' || each == '\r'; }

}  // namespace zkrecipes::detail
