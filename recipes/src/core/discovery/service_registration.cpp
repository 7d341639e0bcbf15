#include <utility>

#include <zkrecipes/service_discovery.hpp>

#include "backend/worded_errors.hpp"
#include "discovery/service_snapshot.hpp"
#include "group/kept_node.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

awaitable<outcome<>> update(kept_node_ptr node, service_instance instance) {
  const auto present = parse_service_instance(node->data());
  if (!present) co_return outcome<>(errc::bad_arguments);
  if (instance.id.empty()) instance.id = present->id;
  if (instance.registration_time == 0) instance.registration_time = present->registration_time;
  auto text = to_json(instance);
  const bool is_same = present->name == instance.name && present->id == instance.id && present->type == instance.type;
  if (!is_same)
    co_return outcome<>(backend::bad_arguments("service_instance: another name, id or type than registered"));
  if (const auto why = problem_with(instance, text)) co_return outcome<>(why);
  co_return co_await node->set_data(std::move(*text));
}

awaitable<outcome<>> set_enabled(kept_node_ptr node, bool enabled) {
  auto instance = parse_service_instance(node->data());  // we wrote it, so it is an instance
  instance->enabled = enabled;
  auto text = to_json(*instance);
  co_return co_await node->set_data(std::move(*text));
}

}  // namespace

void service_registration::start_update(handler_for<void(error_code)> h, node_ptr node, service_instance instance) {
  launch(*node->get_scheduler(), std::move(h), update(node, std::move(instance)));
}

void service_registration::start_set_enabled(handler_for<void(error_code)> h, node_ptr node, bool enabled) {
  launch(*node->get_scheduler(), std::move(h), set_enabled(node, enabled));
}

}  // namespace zkrecipes
