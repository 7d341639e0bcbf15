#include "ending_order_reader.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

#include "format/json_object.hpp"

namespace guardian {

std::optional<ending_order> ending_order_reader::hear(std::string_view line) {
  auto read = zkrecipes::backend::parse_guardian_message(line);
  if (read.message) {
    if (auto* session = std::get_if<zkrecipes::backend::guarded_session>(&*read.message)) {
      told_ = {std::move(*session), {}};
      return std::nullopt;
    }
    if (auto* term = std::get_if<zkrecipes::backend::guarded_term>(&*read.message)) {
      told_.terms.push_back(std::move(*term));
      return std::nullopt;
    }
  }
  const auto object = zkrecipes::detail::json_object::parse(line);
  const auto number = object ? object->integer("order") : std::nullopt;
  const auto within = object ? object->time("within_ms") : std::nullopt;
  if (!number || !within) throw std::runtime_error("a line is no part of an order");
  return ending_order{*number, std::exchange(told_, {}), *within};
}

}  // namespace guardian
