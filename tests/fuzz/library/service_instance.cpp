// Instances of services, as Curator's clients write them.
#include <zkrecipes/service_discovery.hpp>

#include "fuzz/target.hpp"

namespace fuzz::service_instance_target {

void read_instance(std::string_view input) {
  const auto instance = zkrecipes::parse_service_instance(input);
  if (!instance) return;
  const auto text = zkrecipes::to_json(*instance);
  require(text.has_value(), "an instance that was read can be written");
  require(zkrecipes::parse_service_instance(*text) == instance, "an instance reads the same");
}

const target known("service_instance", read_instance);

}  // namespace fuzz::service_instance_target
