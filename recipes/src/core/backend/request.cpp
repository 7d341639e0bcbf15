#include "backend/request.hpp"

#include <utility>

namespace zkrecipes::backend {

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
