#include "fault_options.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include <CLI/CLI.hpp>

#include <testcluster/op_code.hpp>

namespace testcluster::command {

std::optional<std::int64_t> parse_session(const std::string& text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(begin, end, number, hex ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != end || number == 0) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

namespace {

namespace json = boost::json;

std::string known_request(const std::string& name) {
  try {
    op::code_of(name);
    return {};
  } catch (const std::invalid_argument& unknown) {
    return unknown.what();
  }
}

void add_drop(CLI::App* drop, fault_options& into) {
  drop->add_option("REQUEST", into.operation, "Such as create2, set_data, multi, create_session")
      ->required()
      ->check(CLI::Validator(known_request, "", "request"));
  drop->add_option("-k", into.k, "The k-th of them from now on, over all connections (1)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("K");
}

void add_way(CLI::App* one, fault_options& into) {
  one->add_option("--way", into.way, "to-server, to-client or both (both)")
      ->check(one_of({"to-server", "to-client", "both"}))
      ->type_name("WAY");
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& given) -> std::string {
    if (std::find(words.begin(), words.end(), given) != words.end()) return {};
    std::string expected;
    for (std::size_t i = 0; i < words.size(); ++i)
      expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return "expected " + expected + ", found '" + given + "'";
  };
  return CLI::Validator(check, "", "word");
}

void add_fault(CLI::App& app, int& id, fault_options& into,
               const std::function<CLI::App*(CLI::App&, const std::string&, const std::string&)>& add) {
  auto* fault =
      app.add_subcommand("fault", "Spoil the line between a server and its clients, or another server, until `heal`");
  fault->require_subcommand(1);
  const auto kind = [&](const std::string& name, const std::string& what) {
    auto* one = add(*fault, name, what);
    one->add_option("ID", id, "The server, 1 to N")->required()->check(CLI::Range(1, 9));
    return one;
  };
  const auto on_any_line = [&](const std::string& name, const std::string& what) {
    auto* one = kind(name, what);
    one->add_option("--peer", into.peer, "Between ID (as the client) and this server, not between ID and its clients")
        ->check(CLI::Range(1, 9))
        ->type_name("OTHER");
    return one;
  };
  on_any_line("cut", "Close all connections; new ones are welcome");
  add_way(on_any_line("freeze", "Hold back all bytes without closing a connection; they arrive after `heal`"), into);
  on_any_line("refuse", "Refuse new connections; those that exist stay");
  on_any_line("delay", "Everything arrives later")
      ->add_option("MS", into.amount, "How much, each way")
      ->required()
      ->check(CLI::Range(0, 60'000));
  on_any_line("bandwidth", "Little passes at a time, each way of each connection")
      ->add_option("BYTES", into.amount, "How many in a second")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000}));
  on_any_line("half-open", "Close all connections at one side, and do not tell the other")
      ->add_option("--closed", into.closed, "The side that is closed: client or server (server)")
      ->check(one_of({"client", "server"}))
      ->type_name("SIDE");
  add_way(on_any_line("blackhole", "What is sent disappears, and the connections look alive"), into);
  add_drop(kind("drop-reply", "Let the server execute a request, drop the reply, and close the connection"), into);
  add_drop(kind("drop-request", "A request is lost before the server sees it: the connection is closed instead"), into);
}

void add_partition_options(CLI::App& partition, int& id, fault_options& into) {
  partition.add_option("ID", id, "The server, 1 to N")->required()->check(CLI::Range(1, 9));
  partition.add_option("--from", into.peer, "Only from this one; default: from all others")
      ->check(CLI::Range(1, 9))
      ->type_name("OTHER");
}

json::object fault_request(int id, const fault_options& fault) {
  return {{"command", fault.kind == "partition" ? "partition" : "fault"}, {"id", id}, {"fault", to_json(fault)}};
}

json::object to_json(const fault_options& fault) {
  return {{"kind", fault.kind},
          {"peer", fault.peer},
          {"amount", fault.amount},
          {"closed", fault.closed},
          {"way", fault.way},
          {"operation", fault.operation},
          {"k", fault.k}};
}

fault_options fault_from(const json::object& request) {
  const auto text = [&](const char* key) { return std::string(request.at(key).as_string()); };
  return {.kind = text("kind"),
          .peer = static_cast<int>(request.at("peer").as_int64()),
          .amount = request.at("amount").as_int64(),
          .closed = text("closed"),
          .way = text("way"),
          .operation = text("operation"),
          .k = static_cast<int>(request.at("k").as_int64())};
}

}  // namespace testcluster::command
