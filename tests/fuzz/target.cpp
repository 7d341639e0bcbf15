#include "target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "seeds.hpp"

namespace fuzz {
namespace {

std::string_view present;

bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

}  // namespace

std::map<std::string_view, run_target>& targets() {
  static std::map<std::string_view, run_target> all;
  return all;
}

void run(run_target which, std::string_view input) {
  present = input;
  which(input);
  present = {};
}

void print_input() { std::fprintf(stderr, "the input, as a seed: %s\n", escaped(present).c_str()); }

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  print_input();
  std::abort();
}

std::vector<std::string> lines_of(std::string_view input, std::size_t most) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= input.size() && lines.size() < most;) {
    const auto end = std::min(input.find('\n', begin), input.size());
    lines.emplace_back(input.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

unsigned char take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte;
}

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte < 0x80) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (is_continuation(byte) || i + length > text.size()) return true;
    if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;  // U+0080 to U+009F
    const auto behind = text.substr(i + 1, length - 1);
    if (!std::all_of(behind.begin(), behind.end(), [](char each) { return is_continuation(each); })) return true;
    i += length - 1;
  }
  return false;
}

}  // namespace fuzz
