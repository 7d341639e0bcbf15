// The implementation of a producer's handle.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/producer_base.hpp>

namespace zkrecipes::detail {

/// Each kind of producer has its engine. The operations may be called from any thread.
class producer_core {
 public:
  using handler = handler_for<void(error_code, std::uint64_t)>;

  virtual ~producer_core() = default;

  /// The path of the handle.
  virtual const std::string& path() const noexcept = 0;
  /// `is_many`: the caller is told how many of them were put, from the first on; else there is one, and the caller is
  /// told its number.
  virtual void put(handler whose, std::vector<topic_message> what, bool is_many) = 0;
  /// The caller is told the number of the last message.
  virtual void last(handler whose) = 0;
};

/// `Core`: the engine of its kind. The defaults if it was made by default, or if another kind was assigned to its base.
template <class Core>
const auto& options_of_producer(const producer_base& of) {
  static const std::remove_cvref_t<decltype(std::declval<const Core&>().options())> defaults{};
  const auto* const core = dynamic_cast<const Core*>(of.get_core().get());
  return core ? core->options() : defaults;
}

}  // namespace zkrecipes::detail
