// The options of secure connections to a broker.
#pragma once

#include <optional>
#include <string>

#include <zkrecipes/tls_options.hpp>

namespace zkadmin {

/// As the command line has it. An empty text stands for what `tls_options` has by default.
struct broker_tls_request {
  bool is_wanted = false;  ///< One of the options was given.
  std::string authorities{};
  std::string certificate{};
  std::string key{};
  std::string server_name{};
};

/// Nothing: plain text. The files are read once, so that one that is of no use is refused before anything is asked.
/// Throws `failure` (usage) that names the option.
std::optional<zkrecipes::tls_options> tls_of(const broker_tls_request& asked);

}  // namespace zkadmin
