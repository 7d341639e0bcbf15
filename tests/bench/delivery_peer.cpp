#include "delivery_peer.hpp"

namespace bench {

delivery_peer::delivery_peer(const std::string& name, const plan& what, const std::string& hosts)
    : program_(what.peers, name, "deliveries", hosts) {
  program_.line();  // ready
}

delivery_peer::~delivery_peer() {
  program_.tell("");
  program_.line();  // it has removed its nodes
}

double delivery_peer::round(int count) {
  program_.tell(std::to_string(count));
  return std::stod(program_.line());
}

}  // namespace bench
