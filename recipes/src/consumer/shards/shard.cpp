#include <stdexcept>

#include <boost/crc.hpp>

#include <zkrecipes/consumer/shard.hpp>

#include "shards/shard_name.hpp"

namespace zkrecipes {

std::string shard::name() const { return detail::shard_name(number); }

std::uint32_t shard_of(std::string_view key, std::uint32_t shards) {
  if (shards == 0) throw std::invalid_argument("shard_of: the number of shards is 0");
  boost::crc_32_type sum;
  sum.process_bytes(key.data(), key.size());
  return sum.checksum() % shards;
}

}  // namespace zkrecipes
