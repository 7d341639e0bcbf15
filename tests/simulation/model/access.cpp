#include "model/access.hpp"

#include <algorithm>

#include <boost/uuid/detail/sha1.hpp>

namespace zkrecipes::simulation {

namespace {

std::string base64(const std::string& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string digest_of(const std::string& secret) {
  boost::uuids::detail::sha1 hash;
  hash.process_bytes(secret.data(), secret.size());
  unsigned int words[5];
  hash.get_digest(words);
  std::string bytes;
  for (auto word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift & 0xff);
  }
  return secret.substr(0, secret.find(':')) + ':' + base64(bytes);
}

/// Whether the id has two parts as Java's `String.split` counts them: empty parts at the end do not count.
bool is_digest(const std::string& id) {
  const auto end = id.find_last_not_of(':');
  return end != id.npos && std::count(id.begin(), id.begin() + static_cast<std::ptrdiff_t>(end), ':') == 1;
}

}  // namespace

identities authenticate(const std::vector<credentials>& given) {
  identities who;
  for (const auto& each : given) who.push_back(authenticate(each));
  return who;
}

identity authenticate(const credentials& one) { return {"digest", digest_of(one.user + ':' + one.password)}; }

bool allows(const acl& access, std::int32_t permissions, const identities& who) {
  return std::any_of(access.begin(), access.end(), [&](const acl_entry& each) {
    if ((each.permissions & permissions) == 0) return false;
    if (each.scheme == "world") return true;
    return std::any_of(who.begin(), who.end(),
                       [&](const identity& one) { return one.scheme == each.scheme && one.id == each.id; });
  });
}

std::optional<acl> completed(const acl& asked, const identities& who) {
  acl result;
  auto add = [&](acl_entry entry) {
    if (std::find(result.begin(), result.end(), entry) == result.end()) result.push_back(std::move(entry));
  };
  for (const auto& each : asked) {
    if (each.scheme == "world" && each.id == "anyone") {
      add(each);
    } else if (each.scheme == "auth") {
      if (who.empty()) return std::nullopt;
      for (const auto& one : who) add({each.permissions, one.scheme, one.id});
    } else if (each.scheme == "digest" && is_digest(each.id)) {
      add(each);
    } else {
      return std::nullopt;
    }
  }
  return result.empty() ? std::nullopt : std::optional(result);
}

acl shown(const acl& access, const identities& who) {
  if (allows(access, perm_admin, who)) return access;
  acl masked = access;
  for (auto& each : masked) {
    if (each.scheme == "digest") each.id = each.id.substr(0, each.id.find(':')) + ":x";
  }
  return masked;
}

}  // namespace zkrecipes::simulation
