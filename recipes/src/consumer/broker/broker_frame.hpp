// What a connection to a broker needs to know.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>

#include "backend/endpoint.hpp"
#include "backend/tls/tls_context.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

struct broker_frame {
  core_ptr session{};
  std::string kind{};  ///< "redis" or "rabbitmq"; the log has it in front of the address.
  std::vector<backend::endpoint> brokers{};
  std::shared_ptr<backend::tls_context> tls{};  ///< Null: plain text. On the strand.
  std::chrono::milliseconds timeout{0};
  retry_policy retry{};
  error_code unavailable{};                          ///< The error of a broker that can not be reached.
  error_code refused_credentials{};                  ///< The error of a broker that refuses user or password.
  bool (*may_recover)(const error_code&) = nullptr;  ///< The broker is tried again after this error.
};

using broker_frame_ptr = std::shared_ptr<const broker_frame>;

}  // namespace zkrecipes::detail
