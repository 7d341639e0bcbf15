#include <utility>

#include <zkrecipes/membership.hpp>

#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "group/persistent_node.hpp"
#include "session/core.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

bool is_member(const child_node& node) { return node.stat.ephemeral_owner != 0; }

bool may_be_joined(const std::string& path, const std::string& name) {
  return name.find('/') == name.npos && path_problem(join(path, name)).empty();
}

awaitable<outcome<joined_member>> join_group(core_ptr session, std::string path, membership_options options,
                                             std::string name, std::string data) {
  const auto refused = may_be_joined(path, name)
                           ? error_code()
                           : backend::bad_arguments("the name of the member can not be a node's name");
  if (refused) co_return outcome<joined_member>(refused, joined_member());
  if (is_too_large(data)) co_return outcome<joined_member>(errc::too_large, joined_member());
  auto node =
      std::make_shared<kept_node>(std::move(session), join(path, name), std::move(data), persistent_node_options());
  node->start();
  joined_member member{persistent_node(node)};  // leaves the group again unless it is returned
  recogniser may_go;
  if (options.wait_for_name) may_go = [](const std::string&) { return true; };
  auto error = co_await node->wait_standing(std::move(may_go), lease_clock::duration::max());
  if (error) member = joined_member();
  co_return outcome<joined_member>(error, std::move(member));
}

}  // namespace

membership::membership(session over, std::string path, membership_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(options) {
  require_session(session_);
  require_path("membership path", path_);
}

children_view membership::watch() const { return children_view(session_, path_, {.accept = &is_member}); }

void membership::start_join(handler_for<void(error_code, joined_member)> h, core_ptr core, std::string path,
                            membership_options options, std::string name, std::string data) {
  const auto& on = core->get_scheduler();
  launch(*on, std::move(h), join_group(core, std::move(path), options, std::move(name), std::move(data)));
}

}  // namespace zkrecipes
