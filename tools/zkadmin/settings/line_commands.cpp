#include <chrono>
#include <optional>
#include <string>

#include "failure.hpp"
#include "settings/command_options.hpp"

namespace zkadmin {
namespace {

void add_kind(CLI::App& app, invocation& asked) {
  app.add_option("--kind", asked.line.kind, "Kind of the recipe, if nothing tells it")->type_name("KIND");
}

void add_yes(CLI::App& app, invocation& asked, const char* help) {
  app.add_option("--yes", asked.line.yes, help)->type_name("PATH");
}

void add_revoke_command(CLI::App& app, invocation& asked) {
  auto& how = asked.line;
  auto& revoke = add_command(app, asked, command::revoke, "revoke",
                             "Ask the holders of a lock, a read-write lock or a semaphore to give up");
  add_change(revoke, asked, "Path of the recipe, as `zkadmin recipes` shows it");
  add_kind(revoke, asked);
  revoke.add_option("--of", how.of, "Only this holder, by its id or its node")->type_name("ID");
  add_duration(revoke, "--grace", how.grace,
               "How long a holder has to give up, 100ms to 1h (default: without a limit)");
  revoke.add_flag("--curator", how.in_curators_form,
                  "Write Curator's request in place of the data of a holder that is not of zkrecipes");
  revoke.add_flag("--wait", how.wait, "Follow it until the holders have gone");
  add_duration(revoke, "--for", how.limit, "With --wait: for how long, 100ms to 1h (default 1m)");
  revoke.add_flag("--force", how.force, "With --wait: end the places that are still there after --grace");
  add_yes(revoke, asked, "With --force: the path once more, in place of typing it");
  add_line_format(revoke, how.as_lines);
}

void add_evict_command(CLI::App& app, invocation& asked) {
  auto& how = asked.line;
  auto& evict = add_command(app, asked, command::evict, "evict",
                            "Take a waiter out of the line of a lock, a read-write lock, a semaphore or an election");
  add_change(evict, asked, "Path of the recipe, as `zkadmin recipes` shows it");
  add_kind(evict, asked);
  evict.add_option("--node", how.node, "Name of the waiter's node")->type_name("NAME");
  evict.add_option("--id", how.id, "Id of the waiter, if it is the only one with this id")->type_name("ID");
  evict.add_flag("--force", how.force, "Also one that holds or leads, or may do so");
  add_yes(evict, asked, "With --force: the path of the node, in place of typing it");
}

void add_service_command(CLI::App& app, invocation& asked) {
  auto& service = *app.add_subcommand("service", "Change an instance of a service");
  auto& drain = add_command(service, asked, command::drain_instance, "drain", "Give an instance no more work");
  auto& undrain = add_command(service, asked, command::undrain_instance, "undrain", "End a drain");
  for (auto* each : {&drain, &undrain}) {
    add_change(*each, asked, "Path of the service, as `zkadmin recipes` shows it");
    each->add_option("instance", asked.line.instance, "Id of the instance")->required();
  }
  service.require_subcommand(1);
}

}  // namespace

void add_line_commands(CLI::App& app, invocation& asked) {
  add_revoke_command(app, asked);
  add_evict_command(app, asked);
  add_service_command(app, asked);
}

void require_revocation(const line_request& how) {
  const auto refuse = [](const char* text) { throw failure(exit_code::usage, text); };
  const bool needs_wait = how.limit || how.force || how.as_lines;
  if (needs_wait && !how.wait) refuse("revoke: --for, --force and -o need --wait");
  if (how.force && !how.grace) refuse("revoke: --force needs --grace");
  if (how.yes && !how.force) refuse("revoke: --yes needs --force");
  if (how.force && *how.grace >= how.limit.value_or(default_revocation_limit))
    refuse("revoke: --grace has to be shorter than --for");
}

void require_eviction(const line_request& how) {
  const auto refuse = [](const char* text) { throw failure(exit_code::usage, text); };
  if (how.node.empty() == how.id.empty()) refuse("evict: name the waiter by --node or by --id");
  if (how.yes && !how.force) refuse("evict: --yes needs --force");
}

}  // namespace zkadmin
