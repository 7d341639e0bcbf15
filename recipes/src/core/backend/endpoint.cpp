#include "backend/endpoint.hpp"

namespace zkrecipes::backend {

std::string to_string(const endpoint& server) {
  bool v6 = server.address.find(':') != std::string::npos;
  return (v6 ? '[' + server.address + ']' : server.address) + ':' + std::to_string(server.port);
}

}  // namespace zkrecipes::backend
