// Instances of services, registered by us or by Curator's x-discovery and read by the other.
#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;

namespace {

struct discovery_case : interop_case {
  /// Waits until both workers see this, because a reader's server may lag behind.
  void both_see(const std::string& expected) {
    for (const char* who : {"cpp1", "java1"}) {
      std::string seen;
      run_until([&] { return (seen = ask(who, "instances billing")) == expected; });
      BOOST_TEST(seen == expected, who << " sees " << seen);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(discovery, discovery_case)

BOOST_AUTO_TEST_CASE(curator_and_we_see_each_others_instances_come_and_go) {
  open({{"cpp1", "discovery"}, {"java1", "discovery"}, {"cpp2", "discovery"}});
  BOOST_TEST(ask("cpp2", "register billing b 10.0.0.2 8082 ours") == "ok");
  both_see("ok b=10.0.0.2:8082/ours");
  BOOST_TEST(ask("java1", "register billing a 10.0.0.1 8081 theirs") == "ok");
  both_see("ok a=10.0.0.1:8081/theirs b=10.0.0.2:8082/ours");
  BOOST_TEST(ask("cpp2", "unregister") == "ok");
  both_see("ok a=10.0.0.1:8081/theirs");
  BOOST_TEST(ask("java1", "unregister") == "ok");
  both_see("ok");
  remove("/line/billing");  // the service's own node is left behind
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
