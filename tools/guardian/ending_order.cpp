#include "ending_order.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

#include "format/json_object.hpp"

namespace guardian {

namespace backend = zkrecipes::backend;
using zkrecipes::detail::json_object;

std::optional<std::string> to_lines(const ending_order& order) {
  auto lines = backend::to_line(order.what.session);
  for (const auto& each : order.what.terms) {
    const auto line = backend::to_line(each);
    if (!lines || !line) return std::nullopt;
    *lines += *line;
  }
  if (!lines) return std::nullopt;
  json_object last;
  last.set("order", order.number).set("within_ms", order.within.count());
  return *lines + last.to_text() + '\n';
}

std::string to_line(const ending_answer& answer) {
  json_object line;
  line.set("order", answer.number).set("problem", answer.result.problem);
  line.set("died", static_cast<std::int64_t>(answer.result.died));
  line.set("passed_over", static_cast<std::int64_t>(answer.result.passed_over));
  line.set_flag("closed", answer.result.is_closed);
  return line.to_text() + '\n';
}

std::optional<ending_answer> parse_ending_answer(std::string_view line) {
  const auto object = json_object::parse(line);
  if (!object) return std::nullopt;
  const auto number = object->integer("order");
  auto problem = object->text("problem");
  const auto died = object->integer("died", 0);
  const auto passed_over = object->integer("passed_over", 0);
  const auto closed = object->flag("closed");
  if (!number || !problem || !died || !passed_over || !closed) return std::nullopt;
  return ending_answer{
      *number, {std::move(*problem), static_cast<std::size_t>(*died), static_cast<std::size_t>(*passed_over), *closed}};
}

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
