// What zkadmin reads: requests, answers, keys, nodes, texts and files.
#include <array>
#include <stdexcept>
#include <string>

#include <boost/asio.hpp>

#include <zkrecipes/service/metrics_page.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "change/audit.hpp"
#include "cluster/line_status.hpp"
#include "cluster/nodes.hpp"
#include "cluster/queue.hpp"
#include "cluster/recipe_reader.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"
#include "exporter/metrics_server.hpp"
#include "fuzz/target.hpp"
#include "line/line_spec.hpp"
#include "report/formats.hpp"
#include "screen/list_view.hpp"
#include "screen/render.hpp"
#include "security/security_verdict.hpp"
#include "servers/prober.hpp"
#include "sessions/session_answers.hpp"
#include "sessions/session_end.hpp"
#include "settings/settings.hpp"
#include "settings/values.hpp"
#include "terminal/grid.hpp"
#include "terminal/samples.hpp"
#include "terminal/table.hpp"

namespace fuzz::exporter_request_target {

// Requests to the exporter, over a real connection.

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// A server on this machine, for all inputs.
struct served {
  served()
      : server(std::make_shared<zkadmin::metrics_server>(io.get_executor(), zkadmin::endpoint{"127.0.0.1", 0, ""})) {
    server->set("metric 1\n");
    server->start();
  }
  asio::io_context io{1};
  std::shared_ptr<zkadmin::metrics_server> server;
};

std::string talk(served& by, std::string_view request) {
  tcp::socket client(by.io);
  bool is_connected = false;  // the alarm of libFuzzer would interrupt a call that blocks
  client.async_connect({asio::ip::make_address("127.0.0.1"), by.server->where().port},
                       [&](const auto& error) { is_connected = !error; });
  by.io.restart();
  while (!is_connected) by.io.run_one();
  boost::system::error_code ignored;
  asio::write(client, asio::buffer(request), ignored);
  client.shutdown(tcp::socket::shutdown_send, ignored);
  std::string answer;
  bool is_over = false;
  asio::async_read(client, asio::dynamic_buffer(answer), [&](const auto&, std::size_t) { is_over = true; });
  by.io.restart();
  while (!is_over) by.io.run_one();
  by.io.poll();
  return answer;
}

void ask(std::string_view input) {
  static served by;
  auto answer = talk(by, input);
  if (answer.empty()) return;  // the request was cut off
  constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  if (answer.starts_with(go_on)) answer.erase(0, go_on.size());
  if (answer.empty()) return;  // its body was
  require(answer.starts_with("HTTP/1."), "an answer is one of HTTP");
  require(answer.find("\r\n\r\n") != answer.npos, "an answer has an end of its header");
  const bool is_metrics = answer.ends_with("metric 1\n");
  require(!is_metrics || answer.substr(8, 5) == " 200 ", "only a good request gets the metrics");
}

const target known("exporter_request", ask);

}  // namespace fuzz::exporter_request_target

namespace fuzz::zkadmin_servers_targets {

// What servers answer.

// The answers of servers to the four-letter word `srvr`.

void read_srvr(std::string_view input) {
  const auto server = zkadmin::parse_srvr("127.0.0.1:2181", input);
  require(server.server == "127.0.0.1:2181", "the name of the server stays");
  require(server.reachable || !server.error.empty(), "a server that can not be used has a problem");
  require(!has_control(server.error) && !has_control(server.version), "no control character is shown");
  require(std::string_view(zkadmin::standing(server)).size() > 0, "the server has a standing");
  require(zkadmin::may_serve(server) || !zkadmin::is_serving(server), "a server that serves may serve");
}

// What servers answer about their sessions: to the four-letter words `cons` and `dump`, and by their AdminServers.

void require_connections(const zkadmin::told_connections& told) {
  require(told.is_answer || !told.trouble.empty(), "what is no answer has a reason");
  require(told.is_answer || told.sessions.empty(), "what is no answer tells of no session");
  require(!has_control(told.trouble), "no control character is shown");
  for (const auto& each : told.sessions) {
    require(each.id != 0, "a connection without a session is none");
    require(!each.timeout || each.timeout->count() >= 0, "a timeout is not below 0");
  }
}

void require_owners(const zkadmin::told_owners& told) {
  require(told.is_answer || !told.trouble.empty(), "what is no answer has a reason");
  require(told.is_answer || told.nodes.empty(), "what is no answer tells of no node");
  require(!has_control(told.trouble), "no control character is shown");
  for (const auto& [id, paths] : told.nodes)
    for (const auto& each : paths) require(each.starts_with('/'), "a node has a path");
}

/// Settings, as the word `conf` and the AdminServer tell them.
void require_settings(std::string_view input) {
  zkadmin::server_exposure seen{"a:2181"};
  const bool is_answer = zkadmin::add_conf(seen, input);
  require(is_answer || !seen.has_plain_port, "what is no answer tells of no port");
  zkadmin::add_properties(seen, input);
  require(seen.secrets.size() <= 20, "not all of a long answer is kept");
  for (const auto& each : zkadmin::problems_of(seen, false))
    require(each.text.size() < 4'000, "a text has an end, however long the names are");
}

void read_answer(std::string_view input) {
  require_settings(input);
  require_connections(zkadmin::parse_cons(input));
  require_connections(zkadmin::parse_admin_connections(input));
  require_owners(zkadmin::parse_dump(input));
  require_owners(zkadmin::parse_admin_dump(input));
  require(!has_control(zkadmin::doubts_about_admin(input, {{}, 2181})), "no control character is shown");
  const auto server = zkadmin::parse_conf(input);
  require(!has_control(server.trouble), "no control character is shown");
  require(!server.trouble.empty() || !server.data_dir.empty(), "a server that is known has a data directory");
}

const target known[] = {{"srvr", read_srvr}, {"session_answers", read_answer}};

}  // namespace fuzz::zkadmin_servers_targets

namespace fuzz::key_strokes_target {

// Keys on the dashboard of a sick cluster. Each byte of the input is a key: a character, or from 0x80 on another key,
// the size of the window, or the passing of time.

using namespace zkadmin;

constexpr std::size_t most_keys = 60;
constexpr std::array<stroke, 11> other_keys{
    strokes::up,        strokes::down,     strokes::home,       strokes::end,   strokes::page_up, strokes::page_down,
    strokes::shift_tab, strokes::wheel_up, strokes::wheel_down, strokes::other, U'\u4E2D'};
constexpr std::array<std::pair<int, int>, 5> sizes{{{80, 24}, {200, 60}, {40, 10}, {20, 5}, {1, 1}}};

void require_screen(const model& state) {
  const auto screen = render(state, state.width, state.height, {});
  require(screen.width() == state.width && screen.height() == state.height, "the screen has its size");
  for (int y = 0; y < screen.height(); ++y)
    for (int x = 0; x < screen.width(); ++x) {
      const auto glyph = screen.at(x, y).glyph;
      require(glyph == 0 || (glyph >= 0x20 && (glyph < 0x7f || glyph > 0x9f)), "no control character is shown");
    }
}

effect press(model& state, unsigned char key) {
  if (key < 0x80) return update(state, key_pressed{key}, state.now);
  if (key < 0x80 + other_keys.size()) return update(state, key_pressed{other_keys[key - 0x80u]}, state.now);
  if (key < 0xc0) return update(state, time_passed{}, state.now + std::chrono::seconds(key));
  const auto& [width, height] = sizes[key % sizes.size()];
  return update(state, resized{width, height}, state.now);
}

void type_keys(std::string_view input) {
  static const model sick = samples::sick_dashboard();
  model state = sick;
  for (const char each : input.substr(0, most_keys)) {
    if (press(state, static_cast<unsigned char>(each)) == effect::quit) break;
    for (const auto& list : state.lists) require(list.filter.size() <= 4 * most_keys, "a filter is what was typed");
  }
  require_screen(state);
}

const target known("key_strokes", type_keys);

}  // namespace fuzz::key_strokes_target

namespace fuzz::recognize_target {

// What the data of a node and, in the lines behind it, the names of its children tell of its recipe.

using namespace zkadmin;

void read_record(std::string_view data) {
  require(recipe_of(data) == recipe::none || is_record(data), "only a record tells its recipe");
  require(is_record(data) || mark_of(data).empty(), "only a record has a mark");
  const auto stored = parse_stored(data);
  require(text_field(stored, "zkrecipes") == mark_of(data), "the mark is a field");
  integer_field(stored, "epoch");
}

void read_items(const std::vector<std::string>& names) {
  const auto all = read_names(names);
  require(all.items + all.claimed <= names.size(), "no item without a node");
  require(all.claims.size() <= all.claimed && (all.items > 0) != all.oldest.empty(), "the first item is an item");
  require(!all.due || all.due->count() >= 0, "no item was due before 1970");
  for (const auto& each : names) require(!is_item_name(each) || is_leaf_name(each), "there is no election at an item");
}

void read_node(std::string_view input) {
  auto lines = lines_of(input);
  read_record(lines.front());
  for (const auto& each : lines) {
    is_candidate_name(each), is_lease_name(each);
    if (const auto named = recipe_named(each))
      require(recipe_named(identifier_of(*named)) == named, "a recipe has one name in files");
  }
  lines.erase(lines.begin());
  read_items(lines);
  const auto among = recipe_among(lines);
  for (const auto& each : lines) is_part_of(among, each);
}

const target known("recognize", read_node);

}  // namespace fuzz::recognize_target

namespace fuzz::lines_target {

// The nodes of recipes in which clients stand in line. The first line of the input is the data of the recipe's node;
// each further one a child: its name and, behind a blank, its data.

using namespace zkadmin;

node_line read_line(const std::vector<std::string>& lines, name_markers markers) {
  node_line line;
  line.path = "/recipe";
  line.root.data = lines.front();
  line.now = std::chrono::milliseconds(1'700'000'000'000);
  std::vector<std::string> names;
  for (std::size_t i = 1; i < lines.size(); ++i) names.push_back(lines[i].substr(0, lines[i].find(' ')));
  for (const auto& each : zkrecipes::detail::members_of(names, markers)) {
    child_node node{each.name};
    for (const auto& text : lines)
      if (text.starts_with(each.name + " ")) node.data = text.substr(each.name.size() + 1);
    if (line.members.size() % 5 != 4) node.stat.emplace();
    line.members.push_back(node);
  }
  for (const auto& name : names)
    if (!zkrecipes::detail::parse_sequence(name, markers)) line.others.push_back(name);
  line.strangers = line.others;
  return line;
}

void require_sense(const recipe_status& status, const node_line& line) {
  require(!status.kinds.empty() && !kind_text(status).empty(), "a recipe has a kind");
  if (status.access != recipe_access::readable) return;
  require(status.participants.size() + status.not_read <= line.members.size(), "nobody takes part without a node");
  require(status.waiting.value_or(0) <= line.members.size(), "no more wait than there are");
  require(status.taken.value_or(0) >= 0, "no fewer than no permits are taken");
  for (const auto& each : status.participants) require(!each.role.empty(), "who takes part has a role");
  for (const auto& each : status.facts) to_text(each.value);
}

void read_lines(std::string_view input) {
  const auto lines = lines_of(input);
  const auto locks = read_line(lines, lock_markers());
  require_sense(lock_of(locks, false), locks);
  require_sense(lock_of(locks, true), locks);
  const auto both = read_line(lines, read_write_markers());
  require_sense(read_write_lock_of(both), both);
  const auto permits = read_line(lines, permit_markers());
  require_sense(semaphore_of(permits), permits);
  const auto round = read_line(lines, round_member_markers());
  require_sense(double_barrier_of(round), round);
  const auto leases = read_line(lines, lease_markers());
  auto all = leases;
  all.members.insert(all.members.end(), locks.members.begin(), locks.members.end());
  require_sense(curators_semaphore_of("/recipe", leases, locks), all);
  require_sense(kazoos_semaphore_of(leases, locks), all);
}

const target known("lines", read_lines);

}  // namespace fuzz::lines_target

namespace fuzz::text_target {

// Text from a cluster, as it reaches a terminal, a file or a script. The first byte of the input is a width.

using namespace zkadmin;

void require_fit(std::string_view text, int width) {
  for (const auto& each : {cut_in_middle(text, width), cut_at_begin(text, width)}) {
    require(places(each) <= width, "a text fits into its width");
    require(!has_control(each), "no control character is shown");
  }
  if (width < 2) return;  // a wide character fits into no line
  for (const auto& each : wrapped(text, width)) {
    require(places(each) <= width, "a line fits into its width");
    require(!has_control(each), "no control character is shown");
  }
}

void require_cells(std::string_view text, int width) {
  grid screen(40, 2);
  require(screen.put(1, 1, text, look::plain, width) <= 40, "nothing is written beyond the edge");
  for (int x = 0; x < 40; ++x) {
    const auto glyph = screen.at(x, 1).glyph;
    require(glyph == 0 || (glyph >= 0x20 && (glyph < 0x7f || glyph > 0x9f)), "no cell holds a control character");
  }
}

void require_printable(std::string_view text) {
  const auto shown = printable(text);
  require(!has_control(shown), "no control character is shown");
  require(printable(shown) == shown && displayable(shown) == displayable(text), "printable text stays as it is");
  require(to_utf8(displayable(text)) == shown && places(text) == places(shown), "it takes the same places");
  require(is_utf8(well_formed(text)) && is_utf8(text) == (well_formed(text) == text), "well-formed text is UTF-8");
  for (const auto& each : lines_of(printable_lines(text), 10'000)) {
    auto line = each;
    std::erase(line, '\t');
    require(!has_control(line), "a line has no other control character than tabs");
  }
}

void require_encoded(std::string_view text) {
  const auto encoded = base64(text);
  require(encoded.size() == (text.size() + 2) / 3 * 4, "base64 has four characters for three bytes");
  auto dump = hex_dump(text);
  std::erase(dump, '\n');
  require(!has_control(dump), "a dump has no control character");
  auto line = tsv_line(std::string(text), "end");
  require(line.ends_with("\tend\n") && line.find('\t') == line.size() - 5, "a field has no tab");
  require(line.find('\n') == line.size() - 1, "a line has one end");
  require(printable_lines(line) == line, "a field gives a terminal no orders");
  zkrecipes::service::metrics_page metrics;
  metrics.gauge("name", "help", 1, {{"label", std::string(text)}});
  require(is_utf8(metrics.text()) && lines_of(metrics.text()).size() == 4, "a sample is one line of UTF-8");
}

void read_text(std::string_view input) {
  const int width = take_byte(input) % 80;
  require_printable(input);
  require_fit(input, width);
  require_cells(input, width);
  require_encoded(input);
  require(shortened(input, 40).size() <= 80, "a text is shortened");
  require(passes(input, input.substr(0, 3)) || input.starts_with('!'), "a text passes by its own beginning");
  short_duration(std::chrono::milliseconds(width * 12'345));
}

const target known("text", read_text);

}  // namespace fuzz::text_target

namespace fuzz::zkadmin_files_targets {

// The audit log, the configuration, and values in them.

using namespace zkadmin;

// The audit log: entries in a file, one a line, and the data of a node.

constexpr std::size_t most_bytes = 100'000;

void read_entry(std::string_view line) {
  const auto entry = parse_audit_entry(line);
  if (!entry) return;
  const auto text = to_json_line(*entry, most_bytes);
  require(text.find('\n') == text.npos, "an entry is one line");
  const auto again = parse_audit_entry(text);
  require(again && again->id == entry->id && again->state == entry->state, "an entry reads the same");
  require(to_json_line(*again, most_bytes) == text, "an entry that was read is written the same");
}

void read_log(std::string_view data) {
  const auto log = parse_audit_log(data);
  if (!log) return;
  const audit_entry added{"f00", 1, "who@here", "test", "zkadmin set", "set /a", audit_state::begun};
  const auto text = audit_log_with(data, added);
  require(text.size() <= most_audit_bytes + data.size() + 2'000, "the log is bounded");
  const auto again = parse_audit_log(text);
  require(again && !again->empty() && again->back() == added, "the entry that was added is the last one");
  require(again->size() <= most_audit_entries, "there are so many entries at most");
}

void read_audit(std::string_view input) {
  for (const auto& each : lines_of(input)) read_entry(each);
  read_log(input);
}

// The configuration file.

bool is_of_cluster(const std::string& key) { return key.starts_with("clusters."); }

void require_bounds(const settings& all) {
  using namespace std::chrono_literals;
  require(!all.servers.empty() && all.root.starts_with('/'), "there are servers and a root");
  require(all.interval >= 100ms && all.interval <= 1h && all.timeout >= 100ms, "times are in their bounds");
  for (const auto& each : all.queues) require(each.starts_with('/'), "a queue has a path");
  for (const auto& each : all.recipes) require(each.path.starts_with('/'), "a recipe has a path");
}

void read_settings(std::string_view input) try {
  static const written_file file;
  file.write(input);
  const auto nothing = [](const std::string&) { return std::nullopt; };
  const auto found = read_config_file(file.path(), nothing);
  const raw_settings variables, given;
  auto layers = in_precedence(found, variables, given);
  for (auto& layer : layers) layer.erase("digest_file");  // any file could be named
  require_bounds(resolve_settings(layers));
  for (const auto& [key, value] : found) require(is_of_cluster(key) || !value.source.empty(), "a value has a source");
} catch (const failure& refused) {
  require(refused.code() == exit_code::usage, "a refusal is a mistake of the user");
  require(refused.what()[0] != '\0', "a refusal has a reason");
}

// Values of settings and of arguments.

/// Calls the parser, and checks what it returns or the reason of its refusal.
template <class Parse, class Check>
void attempt(std::string_view input, Parse parse, Check check) try {
  check(parse(input));
} catch (const std::invalid_argument& refused) {
  require(!has_control(refused.what()), "no control character is shown");
}

void require_path(const std::string& path) {
  const bool is_good = path.starts_with('/') && (path == "/" || !path.ends_with('/')) && path.find("//") == path.npos;
  require(is_good, "a path is absolute, without empty parts");
}

void require_endpoint(const endpoint& server) {
  require(!server.host.empty() && !server.name.empty(), "a server has a name");
  require(server.name.ends_with(":" + std::to_string(server.port)), "the name shows the port");
}

void read_sizes(std::string_view input) {
  using namespace std::chrono_literals;
  attempt(input, parse_duration, [](auto time) { require(time >= 100ms && time <= 1h, "a duration in bounds"); });
  attempt(input, parse_age, [](auto time) { require(time >= 100ms && time <= 1000h, "an age in bounds"); });
  attempt(input, parse_count, [](auto n) { require(n >= 0 && n <= 1'000'000'000'000, "a count in bounds"); });
  attempt(input, parse_flag, [](bool) {});
}

void read_session(const std::string& text) try {
  const auto id = parse_session(text);
  require(id != 0 && password_of(id).size() == 16, "a session has a password");
} catch (const failure& refused) {
  require(refused.code() == exit_code::usage, "a refusal is a mistake of the user");
  require(!has_control(refused.what()), "no control character is shown");
}

void read_values(std::string_view input) {
  read_sizes(input);
  attempt(input, parse_path, require_path);
  attempt(input, parse_paths, [](const auto& all) {
    for (const auto& each : all) require_path(each);
  });
  attempt(input, parse_listen, require_endpoint);
  attempt(input, parse_hosts, [](const auto& all) {
    require(!all.empty() && all.size() <= 64, "so many servers");
    for (const auto& each : all) require_endpoint(each);
  });
  attempt(input, parse_recipes, [](const auto& all) {
    for (const auto& each : all) require_path(each.path);
  });
  attempt(input, parse_kind, [](recipe which) { require(which != recipe::none, "a kind is a recipe"); });
  attempt(input, parse_digest, [](const auto& who) {
    require(!who.user.empty() && !who.password.empty() && who.user.find(':') == who.user.npos, "user and password");
  });
  read_session(std::string(input));
}

const target known[] = {{"audit", read_audit}, {"settings", read_settings}, {"values", read_values}};

}  // namespace fuzz::zkadmin_files_targets
