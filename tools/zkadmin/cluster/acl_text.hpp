// Access control lists: what they give to everybody, and how they are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/node.hpp>

namespace zkadmin {

/// The rights that everybody has: those of `world`, and those of a range that holds all addresses.
std::int32_t rights_of_everybody(const zkrecipes::acl& access) noexcept;

/// Whether an entry holds for all clients.
bool is_everybody(const zkrecipes::acl_entry& entry) noexcept;

/// Whether all clients for which `holder` holds have the rights of `entry`, too.
bool holds_for(const zkrecipes::acl_entry& entry, const zkrecipes::acl_entry& holder);

/// How many bits of an address `ip` compares: 8 for 10.0.0.0/8, 32 or 128 without a mask. 0 if the mask is no number.
int compared_bits(const std::string& address) noexcept;

/// Whether an entry holds for so many addresses that it hardly tells clients apart: more than 256 of IPv4, or more than
/// one network of IPv6, but not all.
bool is_broad(const zkrecipes::acl_entry& entry) noexcept;

/// "cdrwa", as zkCli.sh writes it.
std::string letters_of(std::int32_t rights);

/// "digest:ops" or "world:anyone". The hash of a digest is left out, because the password can be guessed from it.
std::string holder_of(const zkrecipes::acl_entry& entry);

/// "digest:ops:cdrwa,world:anyone:r", without hashes.
std::string to_text(const zkrecipes::acl& access);

/// The entries in an order of their own: lists with the same entries become equal.
zkrecipes::acl sorted(zkrecipes::acl access);

/// The command for zkCli.sh, for somebody who has added credentials that are to keep all rights. `more` stands
/// behind the entry for them. Nothing: zkCli.sh has no word for this path or these entries, or the output would change
/// it. A path whose name is chosen by others never becomes more than one word.
std::optional<std::string> set_acl_command(const std::string& path, bool is_recursive, const std::string& more = {});

}  // namespace zkadmin
