#include "discovery/service_snapshot.hpp"

#include <utility>

#include "backend/worded_errors.hpp"
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
