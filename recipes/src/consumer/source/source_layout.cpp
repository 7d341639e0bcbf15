#include "source/source_layout.hpp"

#include "session/paths.hpp"

namespace zkrecipes::detail {

std::string source_layout::shard(std::uint32_t number) const { return join(root, shard_name(number)); }

std::string source_layout::positions(std::uint32_t shard_number) const { return join(shard(shard_number), "_at"); }

std::string source_layout::position(std::uint32_t shard_number, std::string_view group) const {
  return join(positions(shard_number), group);
}

std::string source_layout::marks(std::uint32_t shard_number, std::string_view group) const {
  return join(join(shard(shard_number), "_repeats"), group);
}

std::string source_layout::producers() const { return join(root, "_producers"); }

std::string source_layout::dead(std::string_view group) const { return join(join(root, "_dead"), group); }

}  // namespace zkrecipes::detail
