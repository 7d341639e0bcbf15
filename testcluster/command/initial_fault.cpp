#include "initial_fault.hpp"

#include <CLI/CLI.hpp>

namespace testcluster::command {

initial_fault parse_initial_fault(const std::string& text) {
  initial_fault found;
  CLI::App app;
  app.require_subcommand(1);
  add_partition_options(*app.add_subcommand("partition", ""), found.server, found.fault);
  add_fault(app, found.server, found.fault, [](CLI::App& to, const std::string& name, const std::string& what) {
    return to.add_subcommand(name, what);
  });
  const bool is_partition = text.starts_with("partition");
  try {
    app.parse((is_partition ? "" : "fault ") + text);
  } catch (const CLI::ParseError& mistake) {
    throw CLI::ValidationError("--fault", "'" + text + "': " + mistake.what());
  }
  auto* command = app.get_subcommands().front();
  found.fault.kind = is_partition ? "partition" : command->get_subcommands().front()->get_name();
  return found;
}

}  // namespace testcluster::command
