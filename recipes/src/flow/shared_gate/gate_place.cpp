#include "shared_gate/gate_place.hpp"

#include "gate/sip_hash.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view gate_markers[] = {"-gate-"};
constexpr std::string_view first_marker = "first-gate-";
constexpr std::string_view again_marker = "again-gate-";

/// The names in ZooKeeper are made of this hash, so it must never change.
gate_key hash_of(std::string_view key) { return sip_hash<2, 4>(gate_key())(key); }

void append_hex(std::string& to, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) to += "0123456789abcdef"[number >> shift & 0xf];
}

}  // namespace

gate_place::gate_place(const std::string& path, std::int32_t buckets, std::string_view key, arrival how) : how_(how) {
  const auto hash = hash_of(key);
  bucket_ = join(path, std::to_string(hash.low % static_cast<std::uint64_t>(buckets)));
  hash_ = "-";
  append_hex(hash_, hash.high);
  append_hex(hash_, hash.low);
  hash_ += '-';
}

line_spec gate_place::line() const {
  const auto marker = how_ == arrival::first ? first_marker : again_marker;
  // `protected_name` puts the first dash itself.
  return {bucket_, hash_.substr(1).append(marker), gate_markers};
}

bool gate_place::is_of_our_key(const member& each) const { return each.name.find(hash_) != each.name.npos; }

std::optional<std::size_t> gate_place::nearest_ahead(std::span<const member> members, std::size_t self) const {
  for (auto i = self; i-- > 0;) {
    if (is_of_our_key(members[i])) return i;
  }
  return std::nullopt;
}

std::optional<gate_place::cover> gate_place::find_cover(std::span<const member> members, std::size_t self) const {
  if (how_ != arrival::first) return std::nullopt;
  for (std::size_t i = 0; i < self; ++i) {
    if (!is_of_our_key(members[i]) || members[i].name.find(first_marker) == members[i].name.npos) continue;
    if (const auto ahead = nearest_ahead(members, i)) return cover{*ahead, i};
  }
  return std::nullopt;
}

}  // namespace zkrecipes::detail
