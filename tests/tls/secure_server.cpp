#include "tls/secure_server.hpp"

#include "support/single_server.hpp"

namespace zkrecipes::test {

testcluster::ensemble& secure_server() {
  static testcluster::ensemble shared(single_server({.tls = true, .delay_proxies = true}));
  return shared;
}

session_options secure_case::options_with(const testcluster::certificate_files& own) const {
  auto options = options_for(cluster.hosts());
  options.tls->authorities = cluster.authority().certificate().string();
  options.tls->certificate = own.certificate.string();
  options.tls->key = own.key.string();
  return options;
}

}  // namespace zkrecipes::test
