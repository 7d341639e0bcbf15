#include "backend/backend.hpp"

namespace zkrecipes::backend {

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
    case opcode::forget_data: return "forget_data";
    case opcode::forget_children: return "forget_children";
  }
  return "?";
}

std::string to_string(const endpoint& server) {
  bool v6 = server.address.find(':') != std::string::npos;
  return (v6 ? '[' + server.address + ']' : server.address) + ':' + std::to_string(server.port);
}

request make_request(opcode op, std::string path, bool watch) {
  request what;
  what.op = op;
  what.path = std::move(path);
  what.watch = watch;
  return what;
}

request make_multi(const transaction& all) {
  auto what = make_request(opcode::multi, "/");
  what.operations = all.operations();
  return what;
}

request make_catch_up() { return make_multi(transaction().check("/")); }

}  // namespace zkrecipes::backend
