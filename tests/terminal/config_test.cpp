// The sources of settings, their precedence, and the messages about bad settings.
#include "settings_place.hpp"

BOOST_FIXTURE_TEST_SUITE(config, settings_place)

BOOST_AUTO_TEST_CASE(defaults) {
  const auto found = load({"--hosts", "a"});
  BOOST_TEST(found.servers.at(0).name == "a:2181");
  BOOST_TEST(found.root == "/");
  BOOST_TEST(found.name == "a");
  BOOST_TEST((found.interval == 1s));
  BOOST_TEST((found.timeout == 5s));
  BOOST_TEST(found.color);
  BOOST_TEST(!found.ascii);
  BOOST_TEST(!found.digest.has_value());
}

BOOST_AUTO_TEST_CASE(command_line_over_environment_over_file) {
  const auto file = write("c.toml", "hosts = \"file\"\nroot = \"/file\"\nname = \"file\"\ninterval = \"1m\"\n");
  variables = {{"ZKADMIN_HOSTS", "environment"}, {"ZKADMIN_ROOT", "/environment"}, {"ZKADMIN_CONFIG", file}};
  const auto found = load({"status", "--hosts", "line"});
  BOOST_TEST(found.hosts == "line");
  BOOST_TEST(found.root == "/environment");
  BOOST_TEST(found.name == "file");
  BOOST_TEST((found.interval == 60s));
}

BOOST_AUTO_TEST_CASE(file_is_looked_for_in_this_order) {
  const auto given = write("given.toml", "hosts = \"given\"");
  const auto named = write("named.toml", "hosts = \"named\"");
  write("xdg/zkadmin/config.toml", "hosts = \"xdg\"");
  write("home/.config/zkadmin/config.toml", "hosts = \"home\"");
  variables["HOME"] = (dir / "home").string();
  BOOST_TEST(load({}).hosts == "home");
  variables["XDG_CONFIG_HOME"] = (dir / "xdg").string();
  BOOST_TEST(load({}).hosts == "xdg");
  variables["ZKADMIN_CONFIG"] = named;
  BOOST_TEST(load({}).hosts == "named");
  BOOST_TEST(load({"--config", given.c_str()}).hosts == "given");
  BOOST_TEST(load({"status", "--config", given.c_str()}).hosts == "given");
}

BOOST_AUTO_TEST_CASE(only_a_default_place_may_be_empty) {
  variables = {{"HOME", dir.string()}, {"ZKADMIN_HOSTS", "a"}};
  BOOST_TEST(load({}).hosts == "a");
  const auto missing = (dir / "missing.toml").string();
  BOOST_TEST(has(refused({"--config", missing.c_str()}), "cannot read the configuration file " + missing));
  variables["ZKADMIN_CONFIG"] = missing;
  BOOST_TEST(has(refused({}), missing));
  variables["ZKADMIN_CONFIG"] = dir.string();
  BOOST_TEST(has(refused({}), "cannot read"));
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_named_with_their_line) {
  BOOST_TEST(has(refused_file("hosts = \"a\"\n\nhost = \"b\"\n"), ":3: unknown key host (known: hosts, root, "));
  BOOST_TEST(has(refused_file("hosts = \"a\"\n[servers]\nx = 1\n"), ":2: unknown key servers"));
}

BOOST_AUTO_TEST_CASE(wrong_types_are_named_with_line_key_and_type) {
  BOOST_TEST(refused_file("hosts = [\"a\"]") == ":1: hosts: expected a string, found: array");
  BOOST_TEST(refused_file("hosts = \"a\"\ninterval = 2") ==
             ":2: interval: expected a string with a duration such as \"500ms\", found: integer");
  BOOST_TEST(refused_file("ascii = \"yes\"") == ":1: ascii: expected true or false, without quotes, found: string");
  BOOST_TEST(refused_file("root = 2024-01-01") == ":1: root: expected a string, found: date");
}

BOOST_AUTO_TEST_CASE(bad_values_are_named_with_line_and_key) {
  BOOST_TEST(has(refused_file("hosts = \"a\"\n\ninterval = \"1ms\""), ":3: interval: expected a duration from 100ms"));
  BOOST_TEST(has(refused_file("hosts = \"a:b\""), ":1: hosts: expected a port"));
}

BOOST_AUTO_TEST_CASE(bad_toml_is_named_with_its_line) {
  BOOST_TEST(refused_file("hosts = \"a\"\nroot = \n").starts_with(":2: "));
  BOOST_TEST(refused_file("hosts = \"a\"\nhosts = \"b\"\n").starts_with(":2: "));
}

BOOST_AUTO_TEST_CASE(bad_environment_and_command_line_are_named) {
  variables["ZKADMIN_INTERVAL"] = "soon";
  BOOST_TEST(has(refused({"--hosts", "a"}), "ZKADMIN_INTERVAL: expected a duration"));
  BOOST_TEST(has(refused({"--hosts", "a", "--interval", "2h"}), "--interval: expected a duration"));
  BOOST_TEST(has(refused({"--interval", "2s"}), "no servers: give --hosts"));
}

BOOST_AUTO_TEST_CASE(unknown_options_and_formats_are_usage_errors) {
  BOOST_TEST(has(refused({"--hsots", "a"}), "--hsots"));
  BOOST_TEST(has(refused({"status", "--hosts", "a", "-o", "xml"}), "xml"));
  BOOST_TEST(has(refused({"resign", "--hosts", "a"}), "path"));
  BOOST_TEST(has(refused({"stauts"}), "stauts"));
}

BOOST_AUTO_TEST_CASE(hosts) {
  const auto found = load({"--hosts", "a:1,[::1]:2,127.0.0.1,[fe80::1]/root/path"});
  BOOST_TEST(found.servers.size() == 4u);
  BOOST_TEST(found.servers[0].name == "a:1");
  BOOST_TEST(found.servers[1].name == "[::1]:2");
  BOOST_TEST(found.servers[1].host == "::1");
  BOOST_TEST(found.servers[2].port == 2181);
  BOOST_TEST(found.servers[3].host == "fe80::1");
  for (const char* bad : {"", ",", "a,", "a:0", "a:65536", "a:1x", ":1", "::1", "[::1", "[::1]x", "a b", "a//b"})
    BOOST_TEST(has(refused({"--hosts", bad}), *bad ? "--hosts: expected" : "expected"));
  std::string many = "a";
  for (int i = 0; i < 64; ++i) many += ",a";
  BOOST_TEST(has(refused({"--hosts", many.c_str()}), "at most 64 servers"));
}

BOOST_AUTO_TEST_CASE(roots) {
  BOOST_TEST(load({"--hosts", "a", "--root", "/x/y/"}).root == "/x/y");
  BOOST_TEST(load({"--hosts", "a", "--root", "/"}).root == "/");
  for (const char* bad : {"x", "/x//y", "/./x", "/x/..", "/x\n"})
    BOOST_TEST(has(refused({"--hosts", "a", "--root", bad}), "--root: expected an absolute path"));
}

BOOST_AUTO_TEST_CASE(durations) {
  const auto interval = [this](const char* text) { return load({"--hosts", "a", "--interval", text}).interval; };
  BOOST_TEST((interval("100ms") == 100ms));
  BOOST_TEST((interval("1.5s") == 1500ms));
  BOOST_TEST((interval("1h") == 1h));
  for (const char* bad : {"", "1", "s", "99ms", "61m", "-1s", "nans", "1d", "1s ", "1e400s"})
    BOOST_TEST(has(refused({"--hosts", "a", "--timeout", bad}), "expected"));
}

BOOST_AUTO_TEST_CASE(colours) {
  variables["NO_COLOR"] = "";
  BOOST_TEST(load({"--hosts", "a"}).color);
  variables["NO_COLOR"] = "1";
  BOOST_TEST(!load({"--hosts", "a"}).color);
  BOOST_TEST(load({"--hosts", "a", "--color"}).color);
  variables["ZKADMIN_COLOR"] = "true";
  BOOST_TEST(load({"--hosts", "a"}).color);
  BOOST_TEST(!load({"--hosts", "a", "--no-color"}).color);
  BOOST_TEST(load({"--hosts", "a", "--ascii"}).ascii);
}

BOOST_AUTO_TEST_CASE(credentials_from_a_file) {
  const auto config = write("c.toml", "hosts = \"a\"\ndigest_file = \"secret\"\n");
  write_private("secret", "admin:pass:word\n");
  const auto found = load({"--config", config.c_str()});
  BOOST_TEST(found.digest->user == "admin");
  BOOST_TEST(found.digest->password == "pass:word");
}

BOOST_AUTO_TEST_CASE(credentials_from_the_environment_win_over_the_file) {
  const auto config = write("c.toml", "hosts = \"a\"\ndigest_file = \"secret\"\n");
  write_private("secret", "admin:password\n");
  variables = {{"ZKADMIN_DIGEST", "me:mine"}, {"ZKADMIN_CONFIG", config}};
  BOOST_TEST(load({}).digest->user == "me");
  variables.erase("ZKADMIN_DIGEST");
  variables["ZKADMIN_DIGEST_FILE"] = write_private("other", "other:secret");
  BOOST_TEST(load({}).digest->user == "other");
}

BOOST_AUTO_TEST_CASE(secrets_are_never_shown_nor_taken_from_the_command_line) {
  write_private("secret", "topsecret-without-a-user\n");
  BOOST_TEST(!has(refused_file("hosts = \"a\"\ndigest_file = \"secret\"\n"), "topsecret"));
  BOOST_TEST(has(refused_file("hosts = \"a\"\ndigest_file = \"nowhere\"\n"), ":2: digest_file: cannot read"));
  write_private("secret", "user:" + std::string(5000, 'x'));
  const auto too_long = refused_file("hosts = \"a\"\ndigest_file = \"secret\"\n");
  BOOST_TEST(has(too_long, "is longer than 4096 bytes"));
  BOOST_TEST(!has(too_long, "xxx"));
  BOOST_TEST(has(refused_file("digest = \"admin:topsecret\"\n"), "unknown key digest"));
  for (const auto& given : {std::vector<const char*>{"--digest", "admin:topsecret"}, {"--digest=admin:topsecret"}}) {
    auto arguments = given;
    arguments.insert(arguments.end(), {"--hosts", "a"});
    const auto said = refused(arguments);
    BOOST_TEST(has(said, "--digest: a command line is public; use --digest-file FILE or ZKADMIN_DIGEST"));
    BOOST_TEST(!has(said, "topsecret"));
  }
  variables["ZKADMIN_DIGEST"] = "topsecret";
  const auto said = refused({"--hosts", "a"});
  BOOST_TEST(said == "ZKADMIN_DIGEST: expected one line user:password");
}

BOOST_AUTO_TEST_CASE(credentials_in_a_wrong_place_are_not_repeated) {
  using arguments = std::vector<const char*>;
  const std::pair<arguments, std::string> mistakes[] = {
      {{"--digets", "admin:topsecret"}, "unexpected argument: --digets (and 1 more)"},
      {{"--digets=admin:topsecret"}, "unexpected argument: --digets..."},
      {{"-digest", "admin:topsecret"}, "unexpected argument: -d... (and 1 more)"},
      {{"-digest=admin:topsecret"}, "unexpected argument: -d..."},
      {{"-padmin:topsecret"}, "unexpected argument: -p..."},
      {{"status", "--password", "topsecret"}, "unexpected argument: --password (and 1 more)"},
      {{"status", "admin:topsecret"}, "unexpected argument behind the command"},
      {{"status", "topsecret"}, "unexpected argument behind the command"},
      {{"status", "/a"}, "unexpected argument: /a"},
      {{"digest=admin:topsecret"}, "unexpected argument: digest..."},
      {{"statsu"}, "unexpected argument: statsu; did you mean status?"},
      {{"recipe"}, "unexpected argument: recipe; did you mean recipes?"},
      {{"purge"}, "unexpected argument: purge (see "},
      {{"--digest-file", "admin:topsecret"}, "--digest-file: cannot read the file that it names"},
      {{"--hosts", "admin:topsecret@b"}, "--hosts: expected host:port, found an @"}};
  for (const auto& [given, expected] : mistakes) {
    auto all = given;
    if (expected.find("--hosts") == std::string::npos) all.insert(all.end(), {"--hosts", "a"});
    const auto said = refused(all);
    BOOST_TEST(said.starts_with(expected), said);
    BOOST_TEST(!has(said, "topsecret"));
  }
}

BOOST_AUTO_TEST_CASE(credentials_that_everybody_may_read_are_refused) {
  const auto file = write("secret", "admin:topsecret\n");
  const auto said_with = [&](fs::perms rights) {
    fs::permissions(file, rights);
    return refused({"--hosts", "a", "--digest-file", file.c_str()});
  };
  const auto own = fs::perms::owner_read | fs::perms::owner_write;
  const auto said = said_with(own | fs::perms::others_read);
  BOOST_TEST(has(said, "--digest-file: everybody may read the credentials in " + file + "; chmod o-r"));
  BOOST_TEST(!has(said, "topsecret"));
  BOOST_TEST(has(said_with(own | fs::perms::others_write), "everybody may change the credentials"));
  BOOST_TEST(said_with(own | fs::perms::group_read) == "not refused");
}

BOOST_AUTO_TEST_CASE(commands) {
  const auto parse = [](std::vector<const char*> arguments) { return *parse_command_line(arguments, std::cout); };
  BOOST_TEST((parse({}).command == command::dashboard));
  BOOST_TEST((parse({"dashboard"}).command == command::dashboard));
  const auto status = parse({"status", "-o", "json"});
  BOOST_TEST((status.command == command::status));
  BOOST_TEST((status.output == output_format::json));
  const auto resign = parse({"resign", "/a", "--rw"});
  BOOST_TEST((resign.command == command::resign));
  BOOST_TEST(resign.path == "/a");
  BOOST_TEST(resign.read_write);
  BOOST_TEST(!parse({"resign", "/a"}).read_write);
}

BOOST_AUTO_TEST_CASE(commands_about_shard_groups_and_topics) {
  const auto parse = [](std::vector<const char*> arguments) { return *parse_command_line(arguments, std::cout); };
  BOOST_TEST((parse({"groups"}).command == command::groups));
  BOOST_TEST(parse({"groups"}).path == "");
  const auto one = parse({"groups", "/a", "-o", "tsv"});
  BOOST_TEST(one.path == "/a");
  BOOST_TEST((one.output == output_format::tsv));
  BOOST_TEST((parse({"topics", "/a", "-o", "json"}).command == command::topics));
  BOOST_TEST((parse({"group", "freeze", "/a", "--rw"}).command == command::freeze));
  BOOST_TEST(parse({"group", "freeze", "/a", "--rw"}).read_write);
  BOOST_TEST((parse({"group", "thaw", "/a"}).command == command::thaw));
  const auto release = parse({"group", "release", "/a", "7", "--hosts", "x"});
  BOOST_TEST((release.command == command::release));
  BOOST_TEST(release.path == "/a");
  BOOST_TEST(release.shard == 7u);
  BOOST_TEST(!release.read_write);
  BOOST_TEST(parse({"group", "release", "/a", "--all", "--hosts", "x"}).all_shards);
  BOOST_TEST(has(refused({"group", "release", "/a", "7", "--all", "--hosts", "x"}), "Exactly 1"));
  BOOST_TEST(has(refused({"group", "--hosts", "x"}), "subcommand"));
  BOOST_TEST(has(refused({"group", "release", "/a", "--hosts", "x"}), "shard"));
  for (const char* bad : {"-1", "x", "1.5", "99999999999"})
    BOOST_TEST(has(refused({"group", "release", "/a", bad, "--hosts", "x"}), bad));
}

BOOST_AUTO_TEST_CASE(commands_for_monitoring) {
  const auto parse = [](std::vector<const char*> arguments) { return *parse_command_line(arguments, std::cout); };
  BOOST_TEST((parse({"check"}).command == command::check));
  BOOST_TEST(parse({"check"}).only.empty());
  const auto some = parse({"check", "--only", "servers", "/orders", "-o", "json"});
  BOOST_TEST((some.only == std::vector<std::string>{"servers", "/orders"}));
  BOOST_TEST((some.output == output_format::json));
  BOOST_TEST((parse({"exporter", "--listen", "127.0.0.1:0"}).command == command::exporter));
}

BOOST_AUTO_TEST_CASE(limits_of_problems) {
  const auto defaults = load({"--hosts", "a"});
  BOOST_TEST((defaults.limits.resignation_limit == 10s));
  BOOST_TEST(defaults.limits.zxid_limit == 10'000);
  const auto file = write("c.toml", "hosts = \"a\"\nmessage_limit = \"24h\"\nzxid_limit = 500\n");
  variables["ZKADMIN_MOVE_LIMIT"] = "7m";
  const auto found = load({"check", "--config", file.c_str(), "--resignation-limit", "1m", "--takeover-limit", "2s",
                           "--hand-over-limit", "3s", "--transaction-limit", "4s"});
  BOOST_TEST((found.limits.resignation_limit == 1min));
  BOOST_TEST((found.limits.takeover_limit == 2s));
  BOOST_TEST((found.limits.hand_over_limit == 3s));
  BOOST_TEST((found.limits.transaction_limit == 4s));
  BOOST_TEST((found.limits.move_limit == 7min));
  BOOST_TEST((found.limits.message_limit == 24h));
  BOOST_TEST(found.limits.zxid_limit == 500);
  BOOST_TEST(has(refused({"--hosts", "a", "--move-limit", "1001h"}), "--move-limit: expected a duration from 100ms"));
  for (const char* bad : {"-1", "x", "", "1.5", "1000000000001"})
    BOOST_TEST(has(refused({"--hosts", "a", "--zxid-limit", bad}), "expected"));
  BOOST_TEST(refused_file("zxid_limit = \"5\"") ==
             ":1: zxid_limit: expected a whole number, without quotes, found: string");
}

BOOST_AUTO_TEST_CASE(queues_of_the_settings) {
  BOOST_TEST(load({"--hosts", "a"}).queues.empty());
  BOOST_TEST((load({"--hosts", "a", "--queues", "/a,/b/c/"}).queues == std::vector<std::string>{"/a", "/b/c"}));
  for (const char* bad : {"", ",", "/a,", "a", "/a,b"})
    BOOST_TEST(has(refused({"--hosts", "a", "--queues", bad}), "--queues: expected an absolute path"), bad);
}

BOOST_AUTO_TEST_CASE(the_port_of_the_admin_server) {
  const auto port = [this](const char* text) {
    return load({"sessions", "--hosts", "a", "--admin-port", text}).admin_port;
  };
  BOOST_TEST(load({"--hosts", "a"}).admin_port == 8080);
  BOOST_TEST((port("0") == 0 && port("65535") == 65535));
  for (const char* wrong : {"65536", "-1", "http", ""})
    BOOST_TEST(has(refused({"--hosts", "a", "--admin-port", wrong}), "admin-port"), wrong);
  const auto asked = parse_command_line(std::vector<const char*>{"sessions", "0x1f", "-o", "tsv"}, std::cout);
  BOOST_TEST((asked->command == command::sessions && asked->session == "0x1f" && asked->output == output_format::tsv));
  BOOST_TEST((chroot_of(load({"--hosts", "a:1,b:2/app"})) == "/app" && chroot_of(load({"--hosts", "a"})).empty()));
}

BOOST_AUTO_TEST_CASE(where_the_exporter_serves) {
  const auto listen = [this](const char* text) { return load({"exporter", "--hosts", "a", "--listen", text}).listen; };
  BOOST_TEST((load({"--hosts", "a"}).listen == endpoint{"127.0.0.1", 9141, "127.0.0.1:9141"}));
  BOOST_TEST((listen("0.0.0.0:80") == endpoint{"0.0.0.0", 80, "0.0.0.0:80"}));
  BOOST_TEST((listen("[::1]:0") == endpoint{"::1", 0, "[::1]:0"}));
  BOOST_TEST((load({"--hosts", "a"}).refresh == 15s));
  for (const char* bad : {"", "127.0.0.1", ":9141", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:09141", ":0"})
    BOOST_TEST(has(refused({"exporter", "--hosts", "a", "--listen", bad}), "--listen: expected"), bad);
}

BOOST_AUTO_TEST_CASE(help_and_version) {
  for (const std::vector<const char*>& each :
       {std::vector{"--help"}, std::vector{"status", "--help"}, std::vector{"--version"}}) {
    std::ostringstream out;
    BOOST_TEST(!parse_command_line(each, out).has_value());
    BOOST_TEST(out.str().find("zkadmin") != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Several clusters in one configuration file.

namespace {

constexpr const char* two_clusters = R"(cluster = "billing"
timeout = "3s"

[clusters.billing]
hosts = "zk1:2181,zk2:2181/app"
root = "/billing"

[clusters.test]
hosts = "localhost"
timeout = "1s"
name = "try"

[clusters."a.b"]
)";

struct two_of_them : settings_place {
  two_of_them() { rewrite(two_clusters); }
  void rewrite(const std::string& text) { config = write("config.toml", text); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(clusters, two_of_them)

BOOST_AUTO_TEST_CASE(the_default_cluster) {
  const auto found = load({});
  BOOST_TEST(found.hosts == "zk1:2181,zk2:2181/app");
  BOOST_TEST(found.root == "/billing");
  BOOST_TEST(found.name == "billing");
  BOOST_TEST((found.timeout == 3s), "it has none of its own");
}

BOOST_AUTO_TEST_CASE(a_cluster_by_its_name) {
  const auto found = load({"--cluster", "test"});
  BOOST_TEST(found.hosts == "localhost");
  BOOST_TEST(found.root == "/");
  BOOST_TEST(found.name == "try");
  BOOST_TEST((found.timeout == 1s));
  variables["ZKADMIN_CLUSTER"] = "test";
  BOOST_TEST(load({}).hosts == "localhost");
  BOOST_TEST(load({"--cluster", "billing"}).root == "/billing");
}

// Else the command would go to another cluster than the one that was named.
BOOST_AUTO_TEST_CASE(a_name_on_the_command_line_wins_over_hosts_of_the_environment) {
  variables["ZKADMIN_HOSTS"] = "elsewhere";
  BOOST_TEST(load({"--cluster", "test"}).hosts == "localhost");
  BOOST_TEST(load({"--cluster", "test", "--hosts", "here"}).hosts == "here");
  BOOST_TEST(load({}).hosts == "elsewhere");
  variables["ZKADMIN_CLUSTER"] = "test";
  BOOST_TEST(load({}).hosts == "elsewhere");
}

// Else one cluster's name, credentials and audit log would be used with the servers of another one.
BOOST_AUTO_TEST_CASE(other_servers_do_not_get_the_settings_of_the_cluster) {
  rewrite(
      "cluster = \"a\"\ntimeout = \"3s\"\n[clusters.a]\nhosts = \"h\"\nroot = \"/a\"\n"
      "digest_file = \"zkadmin.no-such-file\"\naudit_file = \"log\"\naudit_path = \"/audit\"\n");
  const auto check = [](const settings& found) {
    BOOST_TEST(found.hosts == "elsewhere");
    BOOST_TEST(found.name == "elsewhere");
    BOOST_TEST(found.root == "/");
    BOOST_TEST(!found.digest);
    BOOST_TEST(found.audit_file == "");
    BOOST_TEST(found.audit_path == "");
    BOOST_TEST((found.timeout == 3s), "it is not of the cluster");
  };
  BOOST_TEST(refused({}).find("digest_file: cannot read") != std::string::npos);
  check(load({"--hosts", "elsewhere"}));
  variables["ZKADMIN_CLUSTER"] = "a";
  check(load({"--hosts", "elsewhere"}));
  variables = {{"ZKADMIN_HOSTS", "elsewhere"}};
  check(load({}));
  BOOST_TEST(refused({"--cluster", "a", "--hosts", "elsewhere"}).find("digest_file: cannot read") != std::string::npos,
             "both are given in one place");
}

BOOST_AUTO_TEST_CASE(a_name_on_the_command_line_leaves_out_credentials_and_root_of_the_environment) {
  variables = {{"ZKADMIN_DIGEST", "u:p"}, {"ZKADMIN_ROOT", "/other"}, {"ZKADMIN_TIMEOUT", "2s"}};
  const auto found = load({"--cluster", "a.b", "--hosts", "h"});
  BOOST_TEST(!found.digest);
  BOOST_TEST(found.root == "/");
  BOOST_TEST((found.timeout == 2s));
  BOOST_TEST(load({"--cluster", "test", "--root", "/given"}).root == "/given");
  const auto of_environment = load({});
  BOOST_TEST(of_environment.digest.has_value());
  BOOST_TEST(of_environment.root == "/other");
  variables = {{"ZKADMIN_DIGEST_FILE", config + ".missing"}};
  BOOST_TEST(load({"--cluster", "test"}).hosts == "localhost");
}

BOOST_AUTO_TEST_CASE(a_cluster_that_is_not_there) {
  BOOST_TEST(refused({"--cluster", "prod"}) == "--cluster: there is no cluster prod (known: a.b, billing, test)");
  variables["ZKADMIN_CLUSTER"] = "a";
  BOOST_TEST(refused({}) == "ZKADMIN_CLUSTER: there is no cluster a (known: a.b, billing, test)");
  rewrite("cluster = \"x\"\nhosts = \"a\"\n");
  variables.clear();
  BOOST_TEST(refused({}) == config + ":1: cluster: there is no cluster x (the configuration file has none)");
}

BOOST_AUTO_TEST_CASE(a_cluster_without_settings_has_those_of_all) {
  BOOST_TEST((load({"--cluster", "a.b", "--hosts", "h"}).timeout == 3s));
  BOOST_TEST(refused({"--cluster", "a.b"}).starts_with("no servers: give --hosts"));
}

BOOST_AUTO_TEST_CASE(mistakes_in_the_table_of_a_cluster) {
  const auto said = [this](const std::string& text) {
    rewrite(text);
    return refused({}).substr(config.size());
  };
  BOOST_TEST(said("[clusters.a]\nhost = \"b\"\n").starts_with(":2: unknown key host (known: hosts, "));
  BOOST_TEST(said("[clusters.a]\ncluster = \"b\"\n").starts_with(":2: unknown key cluster"));
  BOOST_TEST(said("[clusters.a]\nhosts = 1\n") == ":2: hosts: expected a string, found: integer");
  BOOST_TEST(said("clusters = 1\n") == ":1: clusters: expected tables such as [clusters.test]");
  BOOST_TEST(said("[clusters]\na = 1\n") == ":2: clusters: expected a table, found: integer");
}

BOOST_AUTO_TEST_SUITE_END()

// The settings of secure connections.

BOOST_FIXTURE_TEST_SUITE(tls_settings, settings_place)

BOOST_AUTO_TEST_CASE(tls_is_wanted_if_one_of_its_settings_is_there) {
  BOOST_TEST(!load({"--hosts", "a"}).tls.has_value());
  BOOST_TEST(load({"--hosts", "a", "--tls"}).tls.has_value());
  const auto config = write("c.toml", "hosts = \"a\"\ntls_authorities = \"ca.pem\"\ntls_server_name = \"zk\"\n");
  const auto found = load({"--config", config.c_str()});
  BOOST_TEST_REQUIRE(found.tls.has_value());
  BOOST_TEST(found.tls->authorities == (dir / "ca.pem").string());
  BOOST_TEST(found.tls->server_name == "zk");
  BOOST_TEST(!load({"--config", config.c_str(), "--no-tls"}).tls.has_value());
}

BOOST_AUTO_TEST_CASE(what_the_command_line_says_of_tls_wins_over_a_file_that_turns_it_off) {
  const auto config = write("c.toml", "hosts = \"a\"\ntls = false\ntls_authorities = \"ca.pem\"\n");
  BOOST_TEST(!load({"--config", config.c_str()}).tls.has_value());
  BOOST_TEST(load({"--config", config.c_str(), "--tls-server-name", "zk"}).tls.has_value());
}

BOOST_AUTO_TEST_CASE(a_key_that_everybody_may_read_is_refused) {
  const auto key = write("key.pem", "");
  fs::permissions(key, fs::perms::owner_read | fs::perms::others_read);
  BOOST_TEST(has(refused({"--hosts", "a", "--tls-key", key.c_str()}), "--tls-key: everybody may read the key in "));
  fs::permissions(key, fs::perms::owner_read);
  BOOST_TEST(load({"--hosts", "a", "--tls-key", key.c_str()}).tls->key == key);
}

BOOST_AUTO_TEST_SUITE_END()
