#include "election_greeting.hpp"

#include <cstdint>

#include "jute/reader.hpp"
#include "jute/writer.hpp"

namespace testcluster::detail {
namespace {

constexpr std::size_t head_size = 8 + 8;  // protocol version, number of the sending server
constexpr std::int32_t longest_address = 1024;

}  // namespace

std::string election_greeting::pass(std::string_view bytes) {
  pending_ += bytes;
  if (passed_) return rest();
  if (pending_.size() < head_size + 4) return {};
  const auto length = jute::reader(std::string_view(pending_).substr(head_size)).int32();
  passed_ = length < 0 || length > longest_address;  // not a greeting: pass on everything unchanged
  if (passed_) return rest();
  const auto whole = head_size + 4 + static_cast<std::size_t>(length);
  if (pending_.size() < whole) return {};
  passed_ = true;
  const auto address = jute::writer{}.string(callback_).frame().substr(4);
  const auto came = rest();
  return came.substr(0, head_size) + address + came.substr(whole);
}

}  // namespace testcluster::detail
