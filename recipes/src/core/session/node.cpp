#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <openssl/evp.h>

#include <zkrecipes/node.hpp>

#include "backend/wiped_credentials.hpp"
#include "format/shown_text.hpp"
#include "session/credentials.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

// Entries of access control lists, in the words of the servers.

using namespace detail;

namespace {

[[noreturn]] void refuse(std::string_view whose, std::string_view problem) {
  throw std::invalid_argument(std::string(whose) + ": " + std::string(problem));
}

acl_entry entry_of(const char* whose, std::int32_t permissions, const char* scheme, std::string id) {
  if (permissions < 1 || permissions > perm_all) refuse(whose, "permissions must be a sum of perm_read to perm_admin");
  return {permissions, scheme, std::move(id)};
}

std::string base64(const unsigned char* bytes, unsigned size) {
  std::string text((size + 2) / 3 * 4 + 1, '\0');  // with room for the NUL that is written at its end
  const auto length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(size));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

bool is_attribute_name(std::string_view name) {
  static constexpr std::array<std::string_view, 9> known{"CN", "OU", "O", "L", "ST", "C", "STREET", "DC", "UID"};
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789.") == name.npos;
  return is_number || std::ranges::find(known, name) != known.end();
}

/// The position of the next ',' or '+' that separates attributes.
std::size_t end_of_attribute(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == ',' || text[i] == '+')
      return i;
  }
  return text.size();
}

/// The DER of a value: of an attribute that has no name here, or of a kind of text that Java does not write out.
bool is_hex_value(std::string_view value) {
  return value.size() > 1 && value.size() % 2 == 1 && value.front() == '#' &&
         value.find_first_not_of("0123456789abcdef", 1) == value.npos;
}

/// Java writes these behind a '\', and each blank at both ends, and all else as it is. OpenSSL writes letters beyond
/// ASCII as "\C3\BC", and takes
/// '=' and '#' as they are: such a subject would be that of nobody.
bool is_escaped_value(std::string_view value) {
  const auto is_special = [](char c) { return std::string_view(",=+<>#;\"\\").find(c) != std::string_view::npos; };
  bool is_at_begin = true;
  bool has_bare_end = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool is_behind = value[i] == '\\';
    if (is_behind && ++i == value.size()) return false;
    const bool is_blank = value[i] == ' ';
    if (is_behind ? !is_blank && !is_special(value[i]) : is_special(value[i]) || (is_blank && is_at_begin))
      return false;
    is_at_begin = is_at_begin && is_blank;
    has_bare_end = is_blank && (has_bare_end || !is_behind);
  }
  return !has_bare_end;
}

bool is_attribute(std::string_view name, std::string_view value) {
  if (!is_attribute_name(name)) return false;
  const bool is_number = name.find_first_of("0123456789") != name.npos;
  return is_hex_value(value) || (!is_number && is_escaped_value(value));
}

bool is_subject(std::string_view rest) {
  for (;;) {
    const auto end = end_of_attribute(rest);
    const auto attribute = rest.substr(0, end);
    const auto equals = attribute.find('=');
    if (equals == attribute.npos || !is_attribute(attribute.substr(0, equals), attribute.substr(equals + 1)))
      return false;
    if (end == rest.size()) return true;
    rest.remove_prefix(end + 1);
  }
}

/// How many bits the numeric address has; 0: it is none.
unsigned bits_of_address(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  if (has_nul(text)) return 0;
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return 32;
  return ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1 ? 128 : 0;
}

bool is_address_or_network(const std::string& text) {
  const auto slash = text.find('/');
  const auto bits = bits_of_address(text.substr(0, slash));
  if (bits == 0 || slash == text.npos) return bits != 0;
  const auto length = parse_whole<unsigned>(std::string_view(text).substr(slash + 1));
  return length && *length <= bits;
}

}  // namespace

acl_entry auth_entry(std::int32_t permissions) { return entry_of("auth_entry", permissions, "auth", ""); }

std::string digest_id(const credentials& user) {
  if (const auto problem = problem_with(user); !problem.empty()) refuse("digest_id", problem);
  auto secret = user.user + ':' + user.password;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  const bool is_done = EVP_Digest(secret.data(), secret.size(), hash.data(), &size, EVP_sha1(), nullptr) == 1;
  backend::wipe(secret);
  if (!is_done) {
    throw std::runtime_error("digest_id: this OpenSSL has no SHA-1: take the hash from another machine");
  }
  return user.user + ':' + base64(hash.data(), size);
}

acl_entry digest_entry(const credentials& user, std::int32_t permissions) {
  return entry_of("digest_entry", permissions, "digest", digest_id(user));
}

acl_entry x509_entry(std::string subject, std::int32_t permissions) {
  if (has_nul(subject) || !is_subject(subject)) {
    refuse(
        "x509_entry",
        "a subject is written as in \"CN=app,OU=ops,O=Example\", the most specific part first, without blanks around "
        "'=' and ',': openssl x509 -noout -subject -nameopt RFC2253,-esc_msb -in FILE, and a '\\' before each '=' and "
        "'#' of a value");
  }
  return entry_of("x509_entry", permissions, "x509", std::move(subject));
}

acl_entry ip_entry(std::string address, std::int32_t permissions) {
  if (!is_address_or_network(address)) {
    refuse("ip_entry", "expected a numeric address or a range, as in \"10.1.2.3\" or \"10.1.0.0/16\", not a host name");
  }
  return entry_of("ip_entry", permissions, "ip", std::move(address));
}

acl open_acl() { return {{perm_all, "world", "anyone"}}; }

acl creator_acl() { return {{perm_all, "auth", ""}}; }

}  // namespace zkrecipes
