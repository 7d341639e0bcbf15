#include "cluster/acl_text.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_shown_id = 60;
constexpr std::size_t longest_shown_acl = 200;

bool is_all_addresses(const zkrecipes::acl_entry& entry) noexcept {
  return entry.scheme == "ip" && compared_bits(entry.id) == 0;
}

/// In quotation marks where zkCli.sh would split or misread it.
std::string as_word(const std::string& path) {
  if (path.find_first_of(" \t\n\r\"'") == path.npos) return path;
  const std::string quote = path.find('"') == path.npos ? "\"" : "'";
  return quote + path + quote;
}

}  // namespace

int compared_bits(const std::string& address) noexcept {
  const auto slash = address.find('/');
  if (slash == address.npos) return address.find(':') == address.npos ? 32 : 128;
  int bits = 0;
  std::from_chars(address.data() + slash + 1, address.data() + address.size(), bits);
  return std::max(bits, 0);
}

std::int32_t rights_of_everybody(const zkrecipes::acl& access) noexcept {
  std::int32_t rights = 0;
  for (const auto& each : access)
    if (each.scheme == "world" || is_all_addresses(each)) rights |= each.permissions;
  return rights;
}

bool is_broad(const zkrecipes::acl_entry& entry) noexcept {
  if (entry.scheme != "ip" || is_all_addresses(entry)) return false;
  constexpr int network_of_v4 = 24, network_of_v6 = 64;
  return compared_bits(entry.id) < (entry.id.find(':') == entry.id.npos ? network_of_v4 : network_of_v6);
}

std::string letters_of(std::int32_t rights) {
  constexpr std::pair<zkrecipes::permission, char> letters[] = {{zkrecipes::perm_create, 'c'},
                                                                {zkrecipes::perm_delete, 'd'},
                                                                {zkrecipes::perm_read, 'r'},
                                                                {zkrecipes::perm_write, 'w'},
                                                                {zkrecipes::perm_admin, 'a'}};
  std::string text;
  for (const auto& [right, letter] : letters)
    if (rights & right) text += letter;
  return text;
}

std::string holder_of(const zkrecipes::acl_entry& entry) {
  const bool has_hash = entry.scheme == "digest" || entry.scheme == "super";
  const auto id = has_hash ? entry.id.substr(0, entry.id.find(':')) : entry.id;
  return entry.scheme + ":" + shortened(id, longest_shown_id);
}

std::string to_text(const zkrecipes::acl& access) {
  std::string text;
  for (const auto& each : sorted(access))
    text += (text.empty() ? "" : ",") + holder_of(each) + ":" + letters_of(each.permissions);
  return shortened(text, longest_shown_acl);
}

zkrecipes::acl sorted(zkrecipes::acl access) {
  std::sort(access.begin(), access.end(), [](const auto& a, const auto& b) {
    return std::tie(a.scheme, a.id, a.permissions) < std::tie(b.scheme, b.id, b.permissions);
  });
  return access;
}

std::string set_acl_command(const std::string& path, bool is_recursive, const std::string& more) {
  return std::string("setAcl ") + (is_recursive ? "-R " : "") + as_word(path) + " auth::cdrwa" +
         (more.empty() ? "" : "," + more);
}

}  // namespace zkadmin
