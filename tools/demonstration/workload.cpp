#include "workload.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <zkrecipes/consumer/shard.hpp>

namespace demo {

namespace {

constexpr const char* names[] = {"good", "poison", "killer"};

}  // namespace

workload::workload(const workload_options& how) : how_(how) {
  const auto count = how.poison + how.killers;
  if (count > how.messages / 10) throw std::invalid_argument("more than a tenth of the messages are bad");
  std::mt19937_64 random(how.seed);
  std::vector<message_kind> kinds(how.poison, message_kind::poison);
  kinds.resize(count, message_kind::killer);
  std::shuffle(kinds.begin(), kinds.end(), random);
  // One in each of as many stretches of the same length: they are spread over the run.
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto first = 1 + how.messages * i / count;
    const auto last = how.messages * (i + 1) / count;
    bad_[std::uniform_int_distribution<std::uint64_t>(first, last)(random)] = kinds[i];
  }
}

std::string workload::key(std::uint64_t number) const {
  const auto mixed = (number + how_.seed) * 0x9e3779b97f4a7c15u >> 32;
  return 'k' + std::to_string(mixed % how_.keys);
}

std::uint32_t workload::shard(std::uint64_t number) const {
  return how_.shards ? zkrecipes::shard_of(key(number), how_.shards) : 0;
}

std::string workload::text(std::uint64_t number) const {
  const auto found = bad_.find(number);
  const auto kind = found == bad_.end() ? message_kind::good : found->second;
  return std::to_string(number) + ' ' + key(number) + ' ' + names[static_cast<int>(kind)];
}

message_text parse_message(const std::string& data) {
  message_text what;
  std::string name;
  std::istringstream in(data);
  if (!(in >> what.number >> what.key >> name)) return {};
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return {};
  what.kind = static_cast<message_kind>(found - std::begin(names));
  return what;
}

}  // namespace demo
