#include "target.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace fuzz {

namespace fs = std::filesystem;

written_file::written_file(const std::string& name)
    : name_(name), folder_(fs::temp_directory_path() / "zkrecipes-fuzz-XXXXXX") {
  if (!::mkdtemp(folder_.data())) throw std::system_error(errno, std::generic_category(), folder_);
}

written_file::~written_file() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void written_file::write(std::string_view content) const {
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << content;
}

namespace {

constexpr std::string_view digits = "0123456789abcdef";

char byte_of(std::string_view hex) {
  const auto high = digits.find(hex.substr(0, 1));
  const auto low = hex.size() < 2 ? digits.npos : digits.find(hex[1]);
  if (high == digits.npos || low == digits.npos) throw std::runtime_error("two lower-case hex digits behind \\x");
  return static_cast<char>(high * 16 + low);
}

}  // namespace

std::string escaped(std::string_view bytes) {
  std::string line;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    const bool is_comment = each == '#' && line.empty();
    if (each == '\n') {
      line += "\\n";
    } else if (each == '\\') {
      line += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7f && !is_comment) {
      line += each;
    } else {
      line += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    }
  }
  return line;
}

std::string unescaped(std::string_view line) {
  std::string bytes;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      bytes += line[i];
      continue;
    }
    const char kind = ++i < line.size() ? line[i] : '\0';
    if (kind == 'n') {
      bytes += '\n';
    } else if (kind == '\\') {
      bytes += '\\';
    } else if (kind == 'x') {
      bytes += byte_of(line.substr(i + 1));
      i += 2;
    } else {
      throw std::runtime_error("n, x or a backslash behind a backslash");
    }
  }
  return bytes;
}

std::vector<std::string> read_seeds(const std::string& file) {
  std::ifstream from(file);
  if (!from) throw std::runtime_error("cannot read " + file);
  std::vector<std::string> seeds;
  std::string line;
  for (int number = 1; std::getline(from, line); ++number) {
    if (line.starts_with('#')) continue;
    try {
      seeds.push_back(unescaped(line));
    } catch (const std::runtime_error& problem) {
      throw std::runtime_error(file + ":" + std::to_string(number) + ": expected " + problem.what());
    }
  }
  if (seeds.empty()) throw std::runtime_error(file + ": there is no seed");
  return seeds;
}

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
