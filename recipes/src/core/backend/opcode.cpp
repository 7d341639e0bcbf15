#include "backend/opcode.hpp"

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

}  // namespace zkrecipes::backend
