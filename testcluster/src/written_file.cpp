#include "written_file.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <testcluster/error.hpp>

namespace testcluster::detail {

std::string drawn_secret() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1)
    throw error("could not draw a secret: OpenSSL has no random numbers");
  std::string text;
  for (const unsigned each : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", each);
    text += digits.data();
  }
  return text;
}

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

void write_file(const std::filesystem::path& name, const std::string& text, mode_t mode) {
  const auto aside = name.string() + ".new";
  ::unlink(aside.c_str());
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  const bool is_written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool is_closed = file >= 0 && ::close(file) == 0;
  if (is_written && is_closed && std::rename(aside.c_str(), name.c_str()) == 0) return;
  if (file >= 0) ::unlink(aside.c_str());  // it may hold a part of a secret
  throw error("could not write " + name.string());
}

}  // namespace testcluster::detail
