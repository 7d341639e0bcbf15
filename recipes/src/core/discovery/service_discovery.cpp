#include <stdexcept>
#include <utility>

#include <zkrecipes/service_discovery.hpp>

#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "discovery/service_instance.hpp"
#include "group/children_view.hpp"
#include "group/persistent_node.hpp"
#include "session/core.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

awaitable<outcome<service_snapshot>> current(children_reader_ptr reader) {
  auto seen = co_await reader->current();
  auto& [error, nodes] = seen;
  co_return outcome<service_snapshot>(error, interpret(nodes));
}

awaitable<outcome<service_change>> change(children_reader_ptr reader, children_snapshot seen) {
  auto changed = co_await reader->change(seen);
  auto& [error, nodes] = changed;
  if (error) co_return outcome<service_change>(error, service_change());
  co_return outcome<service_change>(error, interpret(seen, nodes.now));
}

}  // namespace

void service_view::start_current(handler_for<void(error_code, service_snapshot)> h, reader_ptr reader) {
  launch(*reader->get_scheduler(), std::move(h), current(reader));
}

void service_view::start_change(handler_for<void(error_code, service_change)> h, reader_ptr reader,
                                children_snapshot seen) {
  launch(*reader->get_scheduler(), std::move(h), change(reader, std::move(seen)), persistence::endless);
}

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

namespace {

/// An instance with the same address and ports is taken for ours from an earlier run. A static one belongs to no
/// session that could be compared, so it is taken over; one of another session is waited for, because it ends with
/// that.
recogniser at_the_same_address(const service_instance& instance) {
  return [instance](const std::string& data) {
    auto there = parse_service_instance(data);
    return there && there->name == instance.name && there->id == instance.id && there->address == instance.address &&
           there->port == instance.port && there->ssl_port == instance.ssl_port;
  };
}

std::int64_t wall_time_ms(core& session) {
  const auto since = session.get_scheduler()->world->wall_clock().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

awaitable<outcome<service_registration>> register_instance(core_ptr session, std::string base,
                                                           service_instance instance) {
  using result_type = outcome<service_registration>;
  if (instance.id.empty()) instance.id = session->make_guid();
  if (instance.registration_time == 0) instance.registration_time = wall_time_ms(*session);
  auto text = to_json(instance);
  if (const auto why = problem_with(instance, text)) co_return result_type(why, service_registration());
  if (is_too_large(*text)) co_return result_type(errc::too_large, service_registration());
  persistent_node_options options;
  recogniser same;
  const auto is_earlier_run = at_the_same_address(instance);
  if (instance.type == service_type::static_node) {
    options.mode = create_mode::persistent;
    same = is_earlier_run;
  }
  const auto limit = 2 * session->options().timeout;  // the end of a session can come late by a tick of the server
  auto path = join(join(base, instance.name), instance.id);
  auto node = std::make_shared<kept_node>(std::move(session), std::move(path), std::move(*text), std::move(options),
                                          std::move(same), &keep_drain_mark);
  node->start();
  service_registration registration{persistent_node(node)};  // its destructor unregisters unless it is passed on
  auto error = co_await node->wait_standing(is_earlier_run, limit);
  if (error) registration = service_registration();
  co_return result_type(error, std::move(registration));
}

awaitable<outcome<std::vector<std::string>>> services(core_ptr session, std::string base) {
  auto list = make_request(backend::opcode::children, std::move(base));
  auto listed = co_await session->perform(std::move(list), retry::always);
  if (listed.error == errc::no_node) listed.error.clear();
  co_return outcome<std::vector<std::string>>(listed.error, std::move(listed.children));
}

}  // namespace

service_discovery::service_discovery(session over, std::string base)
    : session_(std::move(over)), base_(std::move(base)) {
  require_session(session_);
  require_path("service_discovery base", base_);
}

service_view service_discovery::watch(const std::string& service) const {
  if (!is_name(service)) throw std::invalid_argument("service \"" + service + "\": it can not be a node's name");
  return service_view(children_view(session_, join(base_, service)));
}

void service_discovery::start_register(handler_for<void(error_code, service_registration)> h, core_ptr core,
                                       std::string base, service_instance instance) {
  const auto& on = core->get_scheduler();
  launch(*on, std::move(h), register_instance(core, std::move(base), std::move(instance)));
}

void service_discovery::start_services(handler_for<void(error_code, std::vector<std::string>)> h, core_ptr core,
                                       std::string base) {
  launch(*core->get_scheduler(), std::move(h), services(core, std::move(base)));
}

}  // namespace zkrecipes
