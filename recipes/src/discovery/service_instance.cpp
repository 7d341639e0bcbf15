#include <array>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <zkrecipes/service_instance.hpp>

namespace zkrecipes {

namespace json = boost::json;

namespace {

constexpr std::array<std::pair<service_type, std::string_view>, 4> types{{
    {service_type::dynamic, "DYNAMIC"},
    {service_type::static_node, "STATIC"},
    {service_type::permanent, "PERMANENT"},
    {service_type::dynamic_sequential, "DYNAMIC_SEQUENTIAL"},
}};

std::string_view name_of(service_type type) {
  for (const auto& [each, name] : types) {
    if (each == type) return name;
  }
  return "DYNAMIC";
}

json::value number_or_null(const std::optional<std::int32_t>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

/// The value that a text stands for; nothing if it is not JSON.
std::optional<json::value> parse_json(std::string_view text) {
  boost::system::error_code error;
  auto value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) return std::nullopt;
  return value;
}

std::optional<json::value> parse_or_null(const std::string& text) {
  return text.empty() ? std::optional<json::value>(nullptr) : parse_json(text);
}

/// Reads the fields of an object. After the first field that is not as required, `wrong` stays true.
class reader {
 public:
  explicit reader(const json::object& from) : from_(from) {}

  std::string text(std::string_view name) {
    const auto* value = find(name);
    if (!value || !require(value->is_string())) return {};
    return std::string(value->get_string());
  }
  std::optional<std::int32_t> port(std::string_view name) {
    const auto* value = find(name);
    if (!value || !require(value->is_int64())) return std::nullopt;
    const auto number = value->get_int64();
    return require(number == static_cast<std::int32_t>(number)) ? std::optional(static_cast<std::int32_t>(number))
                                                                : std::nullopt;
  }
  std::int64_t number(std::string_view name) {
    const auto* value = find(name);
    return value && require(value->is_int64()) ? value->get_int64() : 0;
  }
  bool flag(std::string_view name, bool otherwise) {
    const auto* value = find(name);
    return value && require(value->is_bool()) ? value->get_bool() : otherwise;
  }
  std::string raw(std::string_view name) {
    const auto* value = find(name);
    return value ? json::serialize(*value) : std::string();
  }
  service_type type(std::string_view name) {
    const auto wanted = text(name);
    for (const auto& [each, its_name] : types) {
      if (wanted == its_name) return each;
    }
    require(wanted.empty());
    return service_type::dynamic;
  }
  bool require(bool condition) { return condition || (wrong_ = true, false); }
  bool wrong() const noexcept { return wrong_; }

 private:
  /// A null counts as a missing field.
  const json::value* find(std::string_view name) const {
    const auto* value = from_.if_contains(json::string_view(name.data(), name.size()));
    return value && !value->is_null() ? value : nullptr;
  }

  const json::object& from_;
  bool wrong_ = false;
};

}  // namespace

std::optional<std::string> to_json(const service_instance& instance) {
  auto payload = parse_or_null(instance.payload);
  auto uri_spec = parse_or_null(instance.uri_spec);
  if (!payload || !uri_spec) return std::nullopt;
  json::object object;
  object["name"] = instance.name;
  object["id"] = instance.id;
  object["address"] = instance.address;
  object["port"] = number_or_null(instance.port);
  object["sslPort"] = number_or_null(instance.ssl_port);
  object["payload"] = std::move(*payload);
  object["registrationTimeUTC"] = instance.registration_time;
  const auto type = name_of(instance.type);
  object["serviceType"] = json::string_view(type.data(), type.size());
  object["uriSpec"] = std::move(*uri_spec);
  object["enabled"] = instance.enabled;
  auto text = json::serialize(object);
  if (!parse_json(text)) return std::nullopt;  // not UTF-8
  return text;
}

std::optional<service_instance> parse_service_instance(std::string_view text) {
  auto value = parse_json(text);
  if (!value || !value->is_object()) return std::nullopt;
  reader from(value->get_object());
  service_instance instance;
  instance.name = from.text("name");
  instance.id = from.text("id");
  instance.address = from.text("address");
  instance.port = from.port("port");
  instance.ssl_port = from.port("sslPort");
  instance.payload = from.raw("payload");
  instance.registration_time = from.number("registrationTimeUTC");
  instance.type = from.type("serviceType");
  instance.uri_spec = from.raw("uriSpec");
  instance.enabled = from.flag("enabled", true);
  from.require(!instance.name.empty() && !instance.id.empty());
  if (from.wrong()) return std::nullopt;
  return instance;
}

}  // namespace zkrecipes
