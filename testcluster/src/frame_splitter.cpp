#include "frame_splitter.hpp"

#include <cstddef>
#include <cstdint>

#include "jute/reader.hpp"

namespace testcluster::detail {

namespace {

constexpr std::size_t prefix_size = 4;
constexpr std::int32_t largest_frame = 64 << 20;

}  // namespace

std::optional<std::string> frame_splitter::next() {
  if (!opaque_ && pending_.size() >= prefix_size) {
    const auto length = jute::reader(pending_).int32();
    opaque_ = length < 0 || length > largest_frame;
    if (!opaque_) {
      const auto whole = prefix_size + static_cast<std::size_t>(length);
      if (pending_.size() < whole) return {};
      auto frame = pending_.substr(0, whole);
      pending_.erase(0, whole);
      return frame;
    }
  }
  if (!opaque_ || pending_.empty()) return {};
  return rest();
}

}  // namespace testcluster::detail
