// A mistake in the configuration.
#pragma once

#include <stdexcept>

namespace service {

/// Says where the mistake is and how to cure it: "service.toml:12: consumer.window: 0 is out of bounds: give 1 to
/// 10000".
struct configuration_error : std::runtime_error {
  using runtime_error::runtime_error;
};

}  // namespace service
