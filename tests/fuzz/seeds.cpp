#include "seeds.hpp"

#include <fstream>
#include <stdexcept>

namespace fuzz {
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

}  // namespace fuzz
