#include "cluster/acl_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "base/text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_shown_id = 60;
constexpr std::size_t longest_shown_acl = 200;

bool is_all_addresses(const zkrecipes::acl_entry& entry) noexcept {
  return entry.scheme == "ip" && compared_bits(entry.id) == 0;
}

/// As one word of zkCli.sh, in quotation marks where it would split the text; nothing: no word is this text. Its words
/// are a run without white space that does not begin with a quotation mark, or text between two of one kind, without
/// escapes. It takes `!` as a reference to its history, and the output of `check` shows `|` as another character.
std::optional<std::string> as_word(const std::string& text) {
  if (printable(text) != text || text.find_first_of("!|") != text.npos) return std::nullopt;
  const bool is_split = text.find(' ') != text.npos || text.starts_with('"') || text.starts_with('\'');
  if (!is_split) return text;
  for (const char* quote : {"\"", "'"})
    if (text.find(quote) == text.npos) return quote + text + quote;
  return std::nullopt;
}

/// The part of the second entry's addresses that the first one compares is the same.
bool is_in_range(const std::string& address, const std::string& range) {
  const auto bytes_of = [](const std::string& text) {
    boost::system::error_code error;
    const auto one = boost::asio::ip::make_address(text.substr(0, text.find('/')), error);
    std::vector<unsigned char> bytes;
    if (error) return bytes;
    const auto copy = [&bytes](const auto& all) { bytes.assign(all.begin(), all.end()); };
    one.is_v4() ? copy(one.to_v4().to_bytes()) : copy(one.to_v6().to_bytes());
    return bytes;
  };
  const auto inner = bytes_of(address), outer = bytes_of(range);
  const auto bits = static_cast<std::size_t>(compared_bits(range));
  if (inner.size() != outer.size() || inner.empty() || bits > inner.size() * 8) return false;
  if (static_cast<int>(bits) > compared_bits(address)) return false;
  for (std::size_t i = 0; i < bits; ++i)
    if ((inner[i / 8] ^ outer[i / 8]) & (0x80 >> i % 8)) return false;
  return true;
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
    if (is_everybody(each)) rights |= each.permissions;
  return rights;
}

bool is_everybody(const zkrecipes::acl_entry& entry) noexcept {
  return entry.scheme == "world" || is_all_addresses(entry);
}

bool holds_for(const zkrecipes::acl_entry& entry, const zkrecipes::acl_entry& holder) {
  if (is_everybody(entry)) return true;
  if (entry.scheme != holder.scheme) return false;
  return entry.id == holder.id || (entry.scheme == "ip" && is_in_range(holder.id, entry.id));
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

std::optional<std::string> set_acl_command(const std::string& path, bool is_recursive, const std::string& more) {
  const auto place = as_word(path);
  const auto access = as_word("auth::cdrwa" + (more.empty() ? "" : "," + more));
  if (!place || !access) return std::nullopt;
  return std::string("setAcl ") + (is_recursive ? "-R " : "") + *place + " " + *access;
}

}  // namespace zkadmin
