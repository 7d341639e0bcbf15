#include "session/request_size.hpp"

#include <string>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t number = 4;  // an int, a flag, or the length before a text
constexpr std::size_t request_header = 2 * number;
constexpr std::size_t operation_header = 2 * number + 1;  // before each operation of a transaction, and at its end

std::size_t size_of(const std::string& text) { return number + text.size(); }

std::size_t size_of(const acl& all) {
  std::size_t sum = number;
  for (const auto& each : all) sum += number + size_of(each.scheme) + size_of(each.id);
  return sum;
}

}  // namespace

std::size_t size_on_wire(const backend::request& what) {
  std::size_t sum = request_header;
  if (what.op != backend::opcode::multi) {
    const auto secret = what.secret ? what.secret->user.size() + 1 + what.secret->password.size() : 0;
    return sum + size_of(what.path) + size_of(what.data) + secret + size_of(what.access) + number;
  }
  for (const auto& each : what.operations) {
    sum += operation_header + size_of(each.path) + number;
    if (each.type == operation::kind::create) sum += size_of(each.data) + size_of(each.acl);
    if (each.type == operation::kind::set) sum += size_of(each.data);
  }
  return sum + operation_header;
}

}  // namespace zkrecipes::detail
