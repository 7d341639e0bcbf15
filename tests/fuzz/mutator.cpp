#include "mutator.hpp"

#include <iterator>
#include <string_view>
#include <utility>

namespace fuzz {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t longest_input = 4096;

constexpr std::string_view pieces[] = {"null"sv,
                                       "-1"sv,
                                       "1e308"sv,
                                       "18446744073709551616"sv,
                                       "9223372036854775807"sv,
                                       "\\u0000"sv,
                                       "\\ud800"sv,
                                       "true"sv,
                                       "{}"sv,
                                       "[]"sv,
                                       "\"\""sv,
                                       "\\"sv,
                                       "/../"sv,
                                       "\x7f"sv,
                                       "0x"sv,
                                       "\n"sv,
                                       "\0"sv,
                                       "\xff\xff\xff\xff"sv,
                                       "\xed\xa0"sv,
                                       "\xf4\x90"sv,
                                       "\x1b[2J"sv,
                                       "0000000000"sv,
                                       "2147483647"sv,
                                       "\xe2\x80\xae"sv,
                                       "\xc2\x9b"sv,
                                       ":"sv,
                                       ","sv,
                                       "-"sv,
                                       "="sv,
                                       "\""sv};

}  // namespace

std::string mutator::next() {
  auto input = seeds_[draw(seeds_.size())];
  for (auto changes = draw(8) + 1; changes > 0; --changes) change(input);
  if (input.size() > longest_input) input.resize(longest_input);
  return input;
}

void mutator::change(std::string& input) {
  const auto at = draw(input.size() + 1);
  const auto length = draw(16) + 1;
  switch (input.empty() ? 2 + draw(4) : draw(8)) {
    case 0: input[draw(input.size())] = static_cast<char>(draw(256)); return;
    case 1: input.erase(at, length); return;
    case 2: input.insert(at, length, static_cast<char>(draw(256))); return;
    case 3: input.insert(at, pieces[draw(std::size(pieces))]); return;
    case 4: {
      const auto& other = seeds_[draw(seeds_.size())];
      input.insert(at, other.substr(draw(other.size() + 1), length * 8));
      return;
    }
    case 5: input.insert(at, std::string(input.substr(draw(input.size() + 1), length * 8))); return;
    case 6: input.resize(at); return;
    default: std::swap(input[draw(input.size())], input[draw(input.size())]); return;
  }
}

}  // namespace fuzz
