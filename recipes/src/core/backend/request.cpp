#include "backend/request.hpp"

#include <utility>

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
