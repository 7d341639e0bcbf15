// One instance of a service, as Curator's x-discovery describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// How long a registration lives.
enum class service_type {
  dynamic,             ///< As long as the session that registered it.
  static_node,         ///< Until it is unregistered.
  permanent,           ///< The same; Curator leaves it when it closes. We read it, but do not register it.
  dynamic_sequential,  ///< We read it, but do not register it.
};

/// One instance of a service, as it stands in its node.
struct service_instance {
  std::string name{};     ///< The name of the service; no slash.
  std::string id{};       ///< Unique within the service; no slash. Empty at registration: a GUID is used.
  std::string address{};  ///< Host name or number.
  std::optional<std::int32_t> port{};
  std::optional<std::int32_t> ssl_port{};
  std::string payload{};               ///< JSON text, whatever the users of the service agree on; empty: null.
  std::int64_t registration_time = 0;  ///< Milliseconds since 1970; 0 at registration: now.
  service_type type = service_type::dynamic;
  std::string uri_spec{};  ///< JSON text as Curator's UriSpec is written; empty: null.
  /// Whether the instance wants work. False: it is draining, or not ready yet; a `service_provider` does not choose it.
  /// (Curator reads this, but does not write it unless told to.)
  bool enabled = true;

  friend bool operator==(const service_instance&, const service_instance&) = default;
};

/// The instance as Jackson writes Curator's ServiceInstance. Nothing if a text is not UTF-8, or `payload` or `uri_spec`
/// is not JSON.
std::optional<std::string> to_json(const service_instance& instance);

/// Nothing if the text is not such an instance. Fields that are missing have their defaults, unknown fields are
/// ignored.
std::optional<service_instance> parse_service_instance(std::string_view text);

}  // namespace zkrecipes
