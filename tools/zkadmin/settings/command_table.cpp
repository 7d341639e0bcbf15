#include "settings/command_table.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "settings/values.hpp"
#include "shell/outline.hpp"

namespace zkadmin {
namespace {

// The options that several commands share.

const char* type_name_of(const setting& which) {
  for (const auto* each : {"digest_file", "tls_authorities", "tls_certificate", "tls_key"})
    if (which.key == each) return "FILE";
  if (which.type == value_type::duration) return "DURATION";
  return which.type == value_type::count ? "NUMBER" : "TEXT";
}

/// An option of TLS: that it is given, also without a value, means that TLS is wanted.
void add_broker_tls_text(CLI::App& app, broker_tls_request& asked, std::string broker_tls_request::*field,
                         const char* option, const char* type, const char* help) {
  const auto keep = [&asked, field](const std::string& text) {
    asked.is_wanted = true;
    asked.*field = text;
  };
  app.add_option_function<std::string>(option, keep, help)->type_name(type);
}

void add_broker_tls(CLI::App& app, broker_tls_request& asked) {
  using request = broker_tls_request;
  const auto want = [&asked](std::int64_t) { asked.is_wanted = true; };
  app.add_flag_function("--broker-tls", want, "Connect to the broker by TLS; the next four imply it");
  add_broker_tls_text(app, asked, &request::authorities, "--broker-tls-authorities", "FILE",
                      "File or folder with those to trust (default: those of the system)");
  add_broker_tls_text(app, asked, &request::certificate, "--broker-tls-certificate", "FILE",
                      "File with our certificate for the broker (PEM)");
  add_broker_tls_text(app, asked, &request::key, "--broker-tls-key", "FILE",
                      "File with its key (PEM, not encrypted, not readable by everybody)");
  add_broker_tls_text(app, asked, &request::server_name, "--broker-tls-server-name", "TEXT",
                      "The name in the certificate of each broker (default: as in --broker)");
}

void add_setting(CLI::App& app, const setting& which, raw_settings& given) {
  const std::string option = "--" + option_name(which);
  const std::string key(which.key);
  const std::string help(which.help);
  if (which.type == value_type::flag) {
    const auto store = [&given, key, option](const bool& on) { given[key] = {on ? "true" : "false", option}; };
    app.add_flag_function(
           option + ",!--no-" + option_name(which), [store](std::int64_t n) { store(n > 0); }, help)
        ->group(settings_group);
  } else {
    const auto store = [&given, key, option](const std::string& text) { given[key] = {text, option}; };
    app.add_option_function<std::string>(option, store, help)->type_name(type_name_of(which))->group(settings_group);
  }
}

/// Adds `--config` and the settings. Each command has them itself, so that the help of each command is complete.
void add_common(CLI::App& app, invocation& asked) {
  app.add_option("--config", asked.config, "Configuration file (TOML)")->type_name("FILE")->group(settings_group);
  for (const auto& each : all_settings())
    if (!each.is_secret) add_setting(app, each, asked.given);
}

CLI::App& add_command(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& added = *app.add_subcommand(name, help);
  add_common(added, asked);
  added.callback([&asked, which] { asked.command = which; });
  return added;
}

/// `-o`, which takes one of these names.
template <class Value>
void add_output(CLI::App& app, Value& into, const std::string& expected, const char* type,
                std::vector<std::pair<std::string, Value>> names, const std::string& when = {}) {
  const auto keep = [&into, expected, names = std::move(names)](const std::string& given) {
    const auto is_it = [&given](const auto& each) { return each.first == given; };
    const auto found = std::find_if(names.begin(), names.end(), is_it);
    if (found == names.end())
      throw CLI::ValidationError("--output", "expected " + expected + ", found \"" + printable(given) + "\"");
    into = found->second;
  };
  app.add_option_function<std::string>("-o,--output", keep, when + expected + " (default table)")->type_name(type);
}

void add_format(CLI::App& app, invocation& asked) {
  using enum output_format;
  add_output<output_format>(app, asked.output, "table, json or tsv", "table|json|tsv",
                            {{"table", table}, {"json", json}, {"tsv", tsv}});
}

/// A duration, kept as an option.
template <class Target>
CLI::Option* add_duration(CLI::App& app, const char* name, Target& target, const char* help,
                          std::chrono::milliseconds (*parse)(std::string_view) = parse_duration) {
  const auto keep = [&target, name, parse](const std::string& text) {
    try {
      target = parse(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(name, error.what());
    }
  };
  return app.add_option_function<std::string>(name, keep, help)->type_name("DURATION");
}

/// `--broker`, and the options that begin so.
void add_broker(CLI::App& app, invocation& asked) {
  app.add_option(
         "--broker", asked.broker.address,
         "Ask this broker what waits in streams, too; behind the slash a database of Redis, or a virtual host of "
         "RabbitMQ")
      ->type_name("HOST:PORT[/SPACE]");
  app.add_option("--broker-credentials", asked.broker.credentials_file,
                 "File with the credentials for the broker, one line user:password; not readable by everybody")
      ->type_name("FILE");
  add_broker_tls(app, asked.broker.tls);
}

/// `-o` of a command that follows something to its end.
void add_line_format(CLI::App& app, bool& as_lines) {
  add_output<bool>(app, as_lines, "table or ndjson", "FORMAT", {{"table", false}, {"ndjson", true}}, "With --wait: ");
}

/// For a command that changes something at a path.
void add_change(CLI::App& app, invocation& asked, const char* path_help) {
  app.add_option("path", asked.path, path_help)->required();
  app.add_flag("--rw", asked.read_write, "Do it; without this the requests are only shown");
}

// The options of `lock` and `lead`.

constexpr std::int32_t most_permits = 1'000'000;

void add_waiting(CLI::App& app, hold_options& how) {
  auto* at_once = app.add_flag_callback(
      "--try", [&how] { how.waits = false; }, "Do not wait: exit with 123 if it is not free");
  add_duration(app, "--for", how.wait_limit, "Wait at most so long, and exit with 124 then", parse_age)
      ->excludes(at_once);
  app.add_option("--id", how.id, "Name that the others see (default host:pid)")->type_name("TEXT");
  add_duration(app, "--grace", how.grace,
               "Between SIGTERM and SIGKILL, when the command has to end (default 5s); after a lost lease at most an "
               "eighth of the "
               "session timeout");
  add_duration(app, "--session-timeout", how.session_timeout,
               "How long the servers wait for a client that is silent; they have bounds of their own (default 10s)");
}

void add_lock_options(CLI::App& lock, hold_options& how) {
  add_waiting(lock, how);
  const auto choose = [&how](hold_kind kind) { return [&how, kind] { how.kind = kind; }; };
  auto* permits = lock.add_option("-n,--permits", how.permits, "A semaphore instead: so many may run at a time")
                      ->check(CLI::Range(1, most_permits))
                      ->each([&how](const std::string&) { how.kind = hold_kind::semaphore; })
                      ->type_name("NUMBER");
  auto* read =
      lock.add_flag_callback("--read", choose(hold_kind::read), "A read-write lock, shared with other readers");
  auto* write = lock.add_flag_callback("--write", choose(hold_kind::write), "A read-write lock, alone");
  permits->excludes(read)->excludes(write);
  read->excludes(write);
}

void add_lead_options(CLI::App& lead, hold_options& how) {
  add_waiting(lead, how);
  lead.add_flag("--again", how.again, "After a resignation or a loss, get in line again and run the command once more");
}

// The commands, by what they are about.

void add_overview_commands(CLI::App& app, invocation& asked) {
  add_command(app, asked, command::dashboard, "dashboard",
              "A live screen of the ensemble and its elections (the default)");
  add_format(add_command(app, asked, command::status, "status", "Print the ensemble and its elections once"), asked);
  auto& sessions = add_command(app, asked, command::sessions, "sessions",
                               "Print the sessions, or one of them with its ephemeral nodes, once");
  add_format(sessions, asked);
  sessions.add_option("session", asked.session, "Id of a session in hex, to see its nodes and their recipes");
}

void add_monitoring_commands(CLI::App& app, invocation& asked) {
  auto& check = add_command(app, asked, command::check, "check",
                            "Print the problems once; exits with 0 ok, 1 warning, 2 critical, 3 unknown");
  add_format(check, asked);
  check
      .add_option(
          "--only", asked.only,
          "Check only these: servers, elections, groups, topics, commits, queues, recipes, or what is at and below a "
          "path")
      ->type_name("KIND|PATH");
  check.add_flag("--security", asked.security,
                 "Check who may do what instead: ACLs, and what the servers tell everybody");
  add_broker(check, asked);
  add_command(app, asked, command::exporter, "exporter", "Serve metrics for Prometheus over HTTP");
}

void add_expire_command(CLI::App& app, invocation& asked) {
  auto& expire = add_command(app, asked, command::expire, "expire",
                             "End the session of a process that is dead or fenced for certain, as a guardian does");
  expire.add_option("session", asked.session, "Id of the session, in hex")->required();
  expire.add_option("--because", asked.because, "Why it is certain that the process can not act any more")
      ->required()
      ->type_name("TEXT");
  expire.add_option("--yes", asked.yes, "The session once more, in place of the question if it is connected")
      ->type_name("SESSION");
  expire.add_flag("--rw", asked.read_write, "Do it; without this it is only shown what would be done");
}

void add_resign_command(CLI::App& app, invocation& asked) {
  auto& resign = add_command(app, asked, command::resign, "resign", "Ask the leader of an election to give up");
  add_change(resign, asked, "Path of the election, as `zkadmin status` shows it");
  auto& how = asked.resignation;
  resign.add_flag("--wait", how.wait, "Follow the hand-over until a successor executes");
  add_duration(resign, "--for", how.limit, "With --wait: for how long, 100ms to 1h (default 1m)");
  resign.add_flag("--force", how.force, "With --wait: end the leader's place if it is still there after --grace");
  add_duration(resign, "--grace", how.grace, "With --force: how long the leader has to give up, 100ms to 1h");
  resign.add_option("--yes", how.confirmed, "With --force: the id of the leader, in place of typing it")
      ->type_name("ID");
  add_line_format(resign, how.as_lines);
}

void add_history_commands(CLI::App& app, invocation& asked) {
  auto& history = add_command(app, asked, command::history, "history", "Print the last terms of an election");
  add_format(history, asked);
  history.add_option("path", asked.path, "Path of the election, as `zkadmin status` shows it")->required();
  add_format(add_command(app, asked, command::audit, "audit", "Print the log of interventions"), asked);
}

void add_election_commands(CLI::App& app, invocation& asked) {
  add_resign_command(app, asked);
  add_history_commands(app, asked);
  add_expire_command(app, asked);
}

void add_wait(CLI::App& to, invocation& asked, const char* help) {
  auto& how = asked.group.how;
  to.add_flag("--wait", how.wait, help);
  add_duration(to, "--for", how.limit, "With --wait: for how long, 100ms to 1h (default 1m)");
}

/// What the planner heeds as long as it is not taken back.
void add_wishes(CLI::App& group, invocation& asked, const char* path_help) {
  auto& drain = add_command(group, asked, command::drain, "drain", "Let a member give its shards to the others");
  auto& undrain = add_command(group, asked, command::undrain, "undrain", "Give the member shards again");
  for (auto* each : {&drain, &undrain}) {
    add_change(*each, asked, path_help);
    each->add_option("member", asked.group.member, "Id of the member")->required();
  }
  add_wait(drain, asked, "Wait until it has no shards");
  auto& transfer = add_command(group, asked, command::transfer, "transfer", "Pin a shard to a member, which gets it");
  auto& unpin = add_command(group, asked, command::unpin, "unpin", "End that");
  for (auto* each : {&transfer, &unpin}) {
    add_change(*each, asked, path_help);
    each->add_option("shard", asked.group.shard, "Number of the shard")->required();
  }
  transfer.add_option("member", asked.group.member, "Id of the member")->required();
  add_wait(transfer, asked, "Wait until the member owns it");
}

void add_group_commands(CLI::App& app, invocation& asked) {
  constexpr const char* path_help = "Path of the group, as `zkadmin groups` shows it";
  auto& groups = add_command(app, asked, command::groups, "groups", "Print the shard groups, or one of them, once");
  add_format(groups, asked);
  groups.add_option("path", asked.path, "Path of a group, to see its members and moves");

  auto& group = *app.add_subcommand("group", "Change a shard group");
  auto& freeze = add_command(group, asked, command::freeze, "freeze", "Stop taking shards from members");
  auto& thaw = add_command(group, asked, command::thaw, "thaw", "End a freeze");
  auto& release = add_command(group, asked, command::release, "release", "Take a shard, or all, out of quarantine");
  for (auto* each : {&freeze, &thaw, &release}) add_change(*each, asked, path_help);
  auto& which = *release.add_option_group("which");
  which.add_option("shard", asked.shard, "Number of the shard");
  which.add_flag("--all", asked.all_shards, "All that are in quarantine, a hundred at a time");
  which.require_option(1);
  add_wishes(group, asked, path_help);
  group.require_subcommand(1);
}

void add_topic_commands(CLI::App& app, invocation& asked) {
  auto& topics = add_command(app, asked, command::topics, "topics", "Print the topics, or one of them, once");
  add_format(topics, asked);
  topics.add_option("path", asked.path, "Path of a topic, to see its groups and shards");
  auto& streams = add_command(app, asked, command::streams, "streams",
                              "Print the sources of messages outside of ZooKeeper, or one of them, once");
  add_format(streams, asked);
  streams.add_option("path", asked.path, "Path of Redis streams, RabbitMQ queues or another source, to see its shards");
  add_broker(streams, asked);
}

void add_recipe_commands(CLI::App& app, invocation& asked) {
  auto& recipes =
      add_command(app, asked, command::recipes, "recipes", "Print the recipes of all kinds, or one of them, once");
  add_format(recipes, asked);
  recipes.add_option("path", asked.path, "Path of a recipe, to see all that is known of it");
  recipes.add_option("--kind", asked.kind, "Only this kind; with a path: it is of this kind")->type_name("KIND");
}

void add_source(CLI::App& to, invocation& asked) {
  auto& queue = asked.queue;
  to.add_option("path", queue.path, "Path of the queue, of a topic, or of streams")->required();
  to.add_option("--group", queue.group, "Of a topic, or of streams: the group of consumers whose letters they are")
      ->type_name("GROUP");
}

void add_fate(CLI::App& to, invocation& asked) {
  auto& queue = asked.queue;
  add_source(to, asked);
  auto* letter = to.add_option("letter", queue.letter, "Name of the letter, as `zkadmin queue letters` shows it");
  auto* all = to.add_flag("--all", queue.all, "The oldest 1 000 letters")->excludes(letter);
  letter->excludes(all);
  to.add_flag("--rw", queue.read_write, "Do it; without this the requests are only shown");
}

void add_queue_commands(CLI::App& app, invocation& asked) {
  auto& queue = *app.add_subcommand("queue", "The dead letters of a queue");
  auto& letters = add_command(queue, asked, command::letters, "letters", "Print the dead letters");
  add_format(letters, asked);
  add_source(letters, asked);
  add_fate(add_command(queue, asked, command::revive, "revive", "Put dead letters back at the end of the queue"),
           asked);
  auto& discard = add_command(queue, asked, command::discard, "discard", "Delete dead letters");
  add_fate(discard, asked);
  discard.add_option("--yes", asked.queue.yes, "The path once more, in place of the question that --all asks")
      ->type_name("PATH");
  auto& revive_key =
      add_command(queue, asked, command::revive_key, "revive-key", "Put the letters of a parked key back in order");
  revive_key.add_option("path", asked.queue.path, "Path of the queue")->required();
  revive_key
      .add_option("key", asked.queue.key, "The key, as `zkadmin queue letters` shows it, or the name of its mark")
      ->required();
  revive_key.add_flag("--rw", asked.queue.read_write, "Do it; without this the first request is only shown");
  queue.require_subcommand(1);
}

void add_commit_commands(CLI::App& app, invocation& asked) {
  auto& commit = *app.add_subcommand("commit", "The transactions of a two-phase commit");
  auto& decide = add_command(commit, asked, command::decide, "decide",
                             "Decide a transaction that nobody else decides, by the rule of its coordinator");
  add_change(decide, asked, "Path of the two-phase commit");
  decide.add_option("transaction", asked.transaction, "Its id, as `zkadmin check` shows it")->required();
  commit.require_subcommand(1);
}

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

void add_line_commands(CLI::App& app, invocation& asked) {
  add_revoke_command(app, asked);
  add_evict_command(app, asked);
  add_service_command(app, asked);
}

constexpr auto most_changes = std::numeric_limits<std::int32_t>::max();

CLI::App& add_node_command(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& added = add_command(app, asked, which, name, help);
  added.add_option("path", asked.node.path, "Path of the node")->required();
  return added;
}

CLI::App& add_reading(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& added = add_node_command(app, asked, which, name, help);
  using enum node_format;
  add_output<node_format>(added, asked.node.format, "table, json, ndjson or tsv", "table|json|ndjson|tsv",
                          {{"table", table}, {"json", json}, {"ndjson", ndjson}, {"tsv", tsv}});
  return added;
}

void add_form(CLI::App& get, invocation& asked) {
  const auto form = [&asked](data_form wanted) { return [&asked, wanted](std::int64_t) { asked.node.form = wanted; }; };
  auto* hex = get.add_flag_function("--hex", form(data_form::hex), "Print the data as a hex dump");
  get.add_flag_function("--base64", form(data_form::base64), "Print the data as base64")->excludes(hex);
}

void add_reading_commands(CLI::App& app, invocation& asked) {
  auto& node = asked.node;
  auto& ls = add_reading(app, asked, command::ls, "ls", "List the children of a node");
  ls.add_flag("-R,--recursive", node.recursive, "List all nodes below it, by their paths");
  ls.add_flag("-l,--long", node.is_long, "With data length, kind, owner and recipe of each");
  add_form(add_reading(app, asked, command::get, "get", "Print the data of a node"), asked);
  add_reading(app, asked, command::stat, "stat", "Print what ZooKeeper knows of a node besides its data");
  auto& tree = add_reading(app, asked, command::tree, "tree", "Print a node and what is below it");
  tree.add_option("--depth", node.depth, "So many levels below the node (default: all)")->type_name("NUMBER");
  auto& watch = add_reading(app, asked, command::watch, "watch", "Print a line for each change of a node");
  watch.add_option("--count", node.count, "End after so many changes (default: at SIGINT)")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, most_changes).description(""));
}

CLI::App& add_changing(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& node = asked.node;
  auto& added = add_node_command(app, asked, which, name, help);
  added.add_option("--version", node.version, "Only if the data has this version (default: the version read)")
      ->type_name("NUMBER")
      ->check(CLI::Range(0, most_changes).description(""));
  added.add_flag("--force", node.force, "Also what a recipe keeps");
  added.add_flag("--rw", node.read_write, "Do it; without this the requests are only shown");
  return added;
}

void add_node_commands(CLI::App& app, invocation& asked) {
  auto& node = asked.node;
  add_reading_commands(app, asked);
  auto& set = add_changing(app, asked, command::set, "set",
                           "Write the data of a node, from standard input unless --data or --file has it");
  auto* text = set.add_option("--data", node.data, "Write this text")->type_name("TEXT");
  set.add_option("--file", node.file, "Write what is in this file")->type_name("FILE")->excludes(text);
  auto& remove = add_changing(app, asked, command::remove, "delete", "Delete a node");
  remove.add_flag("-R,--recursive", node.recursive, "With all nodes below it");
  remove.add_option("--yes", node.yes, "The path once more, in place of the question that --recursive asks")
      ->type_name("PATH");
}

void add_hold_commands(CLI::App& app, invocation& asked) {
  auto& lock =
      add_command(app, asked, command::lock, "lock", "Run a command while holding a lock: lock PATH -- CMD...");
  auto& lead = add_command(app, asked, command::lead, "lead", "Run a command while leading: lead PATH -- CMD...");
  for (auto* each : {&lock, &lead}) each->add_option("path", asked.path, "Path of it")->required();
  add_lock_options(lock, asked.hold);
  add_lead_options(lead, asked.hold);
}

// These need no cluster, so they have no settings.
void add_shell_commands(CLI::App& app, invocation& asked) {
  auto& completion = *app.add_subcommand("completion", "Print the completions for a shell");
  completion.add_option("shell", asked.shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->type_name("bash|zsh|fish");
  completion.callback([&asked] { asked.command = command::completion; });
  app.add_subcommand("man", "Print the manual page")->callback([&asked] { asked.command = command::man; });
}

}  // namespace

void add_commands(CLI::App& app, invocation& asked) {
  add_common(app, asked);
  add_overview_commands(app, asked);
  add_election_commands(app, asked);
  add_group_commands(app, asked);
  add_topic_commands(app, asked);
  add_recipe_commands(app, asked);
  add_node_commands(app, asked);
  add_hold_commands(app, asked);
  add_monitoring_commands(app, asked);
  add_queue_commands(app, asked);
  add_commit_commands(app, asked);
  add_shell_commands(app, asked);
  add_line_commands(app, asked);
  app.require_subcommand(0, 1);
}

void require_consistent(const resignation_options& how) {
  const auto refuse = [](const char* text) { throw failure(exit_code::usage, text); };
  const bool needs_wait = how.limit || how.grace || how.force || how.as_lines || !how.confirmed.empty();
  if (needs_wait && !how.wait) refuse("resign: --for, --force, --grace, --yes and -o need --wait");
  if (how.force != how.grace.has_value()) refuse("resign: --force and --grace need each other");
  if (!how.confirmed.empty() && !how.force) refuse("resign: --yes needs --force");
  if (how.grace && *how.grace >= how.limit.value_or(default_resignation_limit))
    refuse("resign: --grace has to be shorter than --for");
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

std::span<const char* const> without_words(std::span<const char* const> arguments, hold_options& how) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), std::string_view("--"));
  if (dashes == arguments.end()) return arguments;
  how.words.assign(dashes + 1, arguments.end());
  return arguments.first(static_cast<std::size_t>(dashes - arguments.begin()));
}

}  // namespace zkadmin
