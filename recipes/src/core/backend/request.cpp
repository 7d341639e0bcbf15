#include "backend/request.hpp"

#include <string>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t int_bytes = 4;  // an int, a flag, or the length before a text
constexpr std::size_t request_header = 2 * int_bytes;
constexpr std::size_t operation_header = 2 * int_bytes + 1;  // before each operation of a transaction, and at its end

std::size_t size_of(const std::string& text) { return int_bytes + text.size(); }

std::size_t size_of(const acl& all) {
  std::size_t sum = int_bytes;
  for (const auto& each : all) sum += int_bytes + size_of(each.scheme) + size_of(each.id);
  return sum;
}

}  // namespace

std::size_t size_on_wire(const backend::request& what) {
  std::size_t sum = request_header;
  if (what.op != backend::opcode::multi) {
    const auto secret = what.secret ? what.secret->user.size() + 1 + what.secret->password.size() : 0;
    return sum + size_of(what.path) + size_of(what.data) + secret + size_of(what.access) + int_bytes;
  }
  for (const auto& each : what.operations) {
    sum += operation_header + size_of(each.path) + int_bytes;
    if (each.type == operation::kind::create) sum += size_of(each.data) + size_of(each.acl);
    if (each.type == operation::kind::set) sum += size_of(each.data);
  }
  return sum + operation_header;
}

}  // namespace zkrecipes::detail

namespace zkrecipes::backend {

bool is_write(opcode op) noexcept {
  return op == opcode::create || op == opcode::remove || op == opcode::set || op == opcode::multi ||
         op == opcode::set_acl;
}

const char* to_string(opcode op) noexcept {
  switch (op) {
    case opcode::create: return "create";
    case opcode::remove: return "remove";
    case opcode::get: return "get";
    case opcode::set: return "set";
    case opcode::exists: return "exists";
    case opcode::children: return "children";
    case opcode::sync: return "sync";
    case opcode::multi: return "multi";
    case opcode::get_acl: return "get_acl";
    case opcode::set_acl: return "set_acl";
    case opcode::authenticate: return "authenticate";
    case opcode::forget_data: return "forget_data";
    case opcode::forget_children: return "forget_children";
  }
  return "?";
}

request make_request(opcode op, std::string path, bool watch) {
  request what;
  what.op = op;
  what.path = std::move(path);
  what.watch = watch;
  return what;
}

request make_probe(opcode op, std::string path) {
  auto what = make_request(op, std::move(path));
  what.probes = true;
  return what;
}

request make_multi(transaction all) {
  auto what = make_request(opcode::multi, "/");
  what.operations = std::move(all).operations();
  return what;
}

request make_authenticate(std::shared_ptr<const credentials> secret) {
  auto what = make_request(opcode::authenticate, "/");
  what.secret = std::move(secret);
  return what;
}

request make_catch_up() { return make_multi(transaction().check("/")); }

}  // namespace zkrecipes::backend
