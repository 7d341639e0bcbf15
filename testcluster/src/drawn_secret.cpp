#include "drawn_secret.hpp"

#include <array>
#include <cstdio>

#include <openssl/rand.h>

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

}  // namespace testcluster::detail
