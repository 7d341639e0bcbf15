#include "discovery/service_instance.hpp"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <zkrecipes/service_discovery.hpp>

#include "backend/worded_errors.hpp"
#include "format/json_object.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

std::optional<service_instance> instance_of(const child_ptr& node) {
  if (!node || node->error) return std::nullopt;
  return parse_service_instance(node->data);
}

void add(std::vector<service_instance>& to, std::optional<service_instance> instance) {
  if (instance) to.push_back(std::move(*instance));
}

}  // namespace

bool is_name(const std::string& text) { return text.find('/') == text.npos && path_problem(join("/", text)).empty(); }

error_code problem_with(const service_instance& instance, const std::optional<std::string>& text) {
  const bool can_be = instance.type == service_type::dynamic || instance.type == service_type::static_node;
  if (!can_be) return backend::bad_arguments("service_instance::type is neither dynamic nor static_node");
  if (!is_name(instance.name)) return backend::bad_arguments("service_instance::name can not be a node's name");
  if (!is_name(instance.id)) return backend::bad_arguments("service_instance::id can not be a node's name");
  if (!text) return backend::bad_arguments("service_instance: a text is not UTF-8, or payload or uri_spec not JSON");
  return {};
}

service_snapshot interpret(const children_snapshot& nodes) {
  service_snapshot result;
  result.nodes = nodes;
  for (const auto& each : nodes.nodes) {
    auto instance = instance_of(each);
    if (instance) {
      result.instances.push_back(std::move(*instance));
    } else {
      result.broken.push_back({each->name, each->error ? each->error : make_error_code(errc::foreign_data)});
    }
  }
  return result;
}

service_change interpret(const children_snapshot& before, const children_snapshot& now) {
  auto nodes = difference(before, now);
  service_change result;
  result.now = interpret(now);
  for (const auto& each : nodes.added) add(result.added, instance_of(each));
  for (const auto& each : nodes.removed) add(result.removed, instance_of(each));
  for (const auto& each : nodes.changed) {
    auto old = instance_of(before.find(each->name));
    auto present = instance_of(each);
    if (present) {
      add(old ? result.changed : result.added, std::move(present));
    } else {
      add(result.removed, std::move(old));
    }
  }
  return result;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using detail::encoding;
using detail::is_json;
using detail::json_object;

namespace {

constexpr std::array<std::pair<service_type, std::string_view>, 4> types{{
    {service_type::dynamic, "DYNAMIC"},
    {service_type::static_node, "STATIC"},
    {service_type::permanent, "PERMANENT"},
    {service_type::dynamic_sequential, "DYNAMIC_SEQUENTIAL"},
}};

std::string_view type_name(service_type type) {
  for (const auto& [each, name] : types) {
    if (each == type) return name;
  }
  return "DYNAMIC";
}

void set_number(json_object& object, std::string_view name, const std::optional<std::int32_t>& number) {
  if (number) {
    object.set(name, *number);
  } else {
    object.set_null(name);
  }
}

/// Sets the field to a value that the user gives as JSON; an empty text stands for none. False if it is not JSON.
bool set_value(json_object& object, std::string_view name, const std::string& value) {
  return object.set_raw(name, value.empty() ? "null" : value);
}

/// The value of a field that may be missing.
/// \throws std::bad_optional_access if it is there, and is not as required.
template <class Value>
Value optional_field(const json_object& object, std::string_view name, std::optional<Value> found, Value otherwise) {
  return object.has(name) ? std::move(found).value() : otherwise;
}

std::string text_of(const json_object& object, std::string_view name) {
  return optional_field(object, name, object.text(name), std::string());
}

std::optional<std::int32_t> port_of(const json_object& object, std::string_view name) {
  using limits = std::numeric_limits<std::int32_t>;
  if (!object.has(name)) return std::nullopt;
  return static_cast<std::int32_t>(object.integer(name, limits::min(), limits::max()).value());
}

std::optional<service_type> type_named(std::string_view wanted) {
  for (const auto& [each, name] : types) {
    if (wanted == name) return each;
  }
  return wanted.empty() ? std::optional(service_type::dynamic) : std::nullopt;
}

}  // namespace

std::optional<std::string> to_json(const service_instance& instance) {
  json_object object;
  object.set("name", instance.name).set("id", instance.id).set("address", instance.address);
  set_number(object, "port", instance.port);
  set_number(object, "sslPort", instance.ssl_port);
  if (!set_value(object, "payload", instance.payload)) return std::nullopt;
  object.set("registrationTimeUTC", instance.registration_time).set("serviceType", type_name(instance.type));
  if (!set_value(object, "uriSpec", instance.uri_spec)) return std::nullopt;
  object.set_flag("enabled", instance.enabled);
  auto text = object.to_text();
  if (!is_json(text, encoding::utf8)) return std::nullopt;  // not UTF-8
  return text;
}

std::optional<service_instance> parse_service_instance(std::string_view text) try {
  auto object = json_object::parse(text, encoding::utf8).value();
  object.drop_nulls();
  service_instance instance;
  instance.name = text_of(object, "name");
  instance.id = text_of(object, "id");
  instance.address = text_of(object, "address");
  instance.port = port_of(object, "port");
  instance.ssl_port = port_of(object, "sslPort");
  instance.payload = object.raw("payload");
  instance.registration_time =
      optional_field(object, "registrationTimeUTC", object.integer("registrationTimeUTC"), std::int64_t{0});
  instance.type = type_named(text_of(object, "serviceType")).value();
  instance.uri_spec = object.raw("uriSpec");
  instance.enabled = optional_field(object, "enabled", object.flag("enabled"), true);
  if (instance.name.empty() || instance.id.empty()) return std::nullopt;
  return instance;
} catch (const std::bad_optional_access&) {  // not an object, or a field is not as required
  return std::nullopt;
}

}  // namespace zkrecipes

namespace zkrecipes::detail {

namespace {

constexpr std::string_view operators_mark = "ownerEnabled";

/// The fields of an instance; nothing if the text is none.
std::optional<json_object> parse_description(const std::string& text) {
  return parse_service_instance(text) ? json_object::parse(text, encoding::utf8) : std::nullopt;
}

}  // namespace

bool is_drained(const std::string& description) {
  const auto object = parse_description(description);
  return object && object->flag(operators_mark).has_value();
}

std::optional<std::string> with_drain_mark(const std::string& description) {
  auto object = parse_description(description);
  if (!object) return std::nullopt;
  if (object->flag(operators_mark)) return description;
  const bool owner_enabled = object->flag("enabled").value_or(true);
  return object->set_flag("enabled", false).set_flag(operators_mark, owner_enabled).to_text();
}

std::optional<std::string> without_drain_mark(const std::string& description) {
  auto object = parse_description(description);
  if (!object) return std::nullopt;
  const auto owner_enabled = object->flag(operators_mark);
  if (!owner_enabled) return description;
  return object->set_flag("enabled", *owner_enabled).erase(operators_mark).to_text();
}

std::string keep_drain_mark(const std::string& there, std::string wanted) {
  if (!is_drained(there)) return wanted;
  return with_drain_mark(wanted).value_or(wanted);
}

}  // namespace zkrecipes::detail
