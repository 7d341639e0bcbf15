#include "rabbitmq/producer_name.hpp"

#include <stdexcept>

#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t longest_producer_name = 200;  // the id of a message has at most 255 bytes

}  // namespace

void require_producer_name(const std::string& name) {
  require_name("producer name", name);
  if (name.size() > longest_producer_name) throw std::invalid_argument("producer name: it must have at most 200 bytes");
}

}  // namespace zkrecipes::detail
