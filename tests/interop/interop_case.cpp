#include "interop_case.hpp"

#include <memory>
#include <optional>
#include <stdexcept>

#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>

#include "support/secure_servers.hpp"

namespace interop {

namespace json = boost::json;
using namespace zkrecipes::test;

namespace {

std::vector<std::string> command_of(const std::string& language) {
  if (language == "cpp") return {INTEROP_CPP};
  if (language == "java") return {INTEROP_RUN, "java", INTEROP_JAVA, "InteropWorker"};
  return {INTEROP_RUN, "python", INTEROP_PYTHON};
}

struct team {
  team() {
    for (const char* language : {"java", "python", "cpp"}) {
      for (const char* number : {"1", "2"}) {
        const std::string name = std::string(language) + number;
        members[name] = std::make_unique<line_process>(name, command_of(language));
      }
    }
  }
  std::map<std::string, std::unique_ptr<line_process>> members;
};

team& all() {
  static team workers;
  return workers;
}

/// The servers' own ports.
std::string hosts_of_servers() {
  if (!secure_servers()) return join_hosts(direct_hosts());
  std::vector<std::string> ports;
  for (const auto& each : cluster().nodes()) ports.push_back(each.secure);
  return join_hosts(ports);
}

/// From now on all workers connect by TLS.
void secure_all() {
  const auto& own = cluster().client_certificate();
  for (auto& [name, each] : all().members) {
    each->tell("secure " + cluster().authority().certificate().string() + ' ' + own.certificate.string() + ' ' +
               own.key.string() + ' ' + own.both.string());
  }
  for (auto& [name, each] : all().members) {
    std::optional<std::string> answer;
    if (!wait_until([&, &worker = *each] { return (answer = worker.answer()).has_value(); }) || *answer != "ok")
      throw std::runtime_error(name + " is not secure: " + answer.value_or("no answer"));
  }
}

/// Starts everything before the cases, because each case compares the descriptors at its beginning and its end.
struct started {
  started() {
    all();
    cluster();
    if (secure_servers()) secure_all();
  }
};
BOOST_TEST_GLOBAL_FIXTURE(started);

constexpr const char* nobody =
    R"({"writer": null, "readers": 0, "max_readers": 0, "last": null, "hand_offs": 0, "turns": {}})";

}  // namespace

zkrecipes::test::line_process& worker(const std::string& name) { return *all().members.at(name); }

interop_case::interop_case() {
  create("/line");
  create("/witness", nobody);
}

void interop_case::teardown() {
  remove("/witness");
  remove("/line");
  fixture::teardown();
}

void interop_case::open(std::initializer_list<participant> who) {
  for (const auto& each : who) {
    worker(each.worker)
        .tell("open " + hosts_of_servers() + ' ' + each.kind + ' ' + root() + "/line " + root() + "/witness " +
              each.worker);
    opened.push_back(each.worker);
  }
  for (const auto& each : opened) BOOST_TEST(answer_of(each) == "ok");
}

std::string interop_case::ask(const std::string& who, const std::string& command) {
  worker(who).tell(command);
  return answer_of(who);
}

std::string interop_case::answer_of(const std::string& who) {
  if (auto known = early.extract(who)) return known.mapped();
  std::optional<std::string> answer;
  const bool in_time = run_until([&] { return (answer = worker(who).answer()).has_value(); });
  BOOST_TEST_REQUIRE(in_time, who << " does not answer");
  return *answer;
}

bool interop_case::answers_soon(const std::string& who) {
  std::optional<std::string> answer;
  run_until([&] { return (answer = worker(who).answer()).has_value(); }, 500ms);
  if (answer) early[who] = *answer;
  return answer.has_value();
}

void interop_case::take_turns(int hand_offs) {
  for (const auto& each : opened) worker(each).tell("until " + std::to_string(hand_offs));
  for (const auto& each : opened) {
    const auto answer = answer_of(each);
    BOOST_TEST(answer == "ok", each << ": " << answer);
  }
}

void interop_case::await_in_line(std::size_t count) {
  BOOST_TEST_REQUIRE(run_until([&] { return children("/line").size() == count; }), "not " << count << " in line");
}

json::object interop_case::witnessed() { return json::parse(get("/witness").data).as_object(); }

void interop_case::close_all() {
  for (const auto& each : opened) BOOST_TEST(ask(each, "close") == "ok");
  opened.clear();
}

void interop_case::finish() {
  close_all();
  BOOST_TEST(run_until([&] { return children("/line").empty(); }), "something is left in line");
  const auto node = get("/witness");
  const auto record = json::parse(node.data).as_object();
  BOOST_TEST(record.at("writer").is_null());
  BOOST_TEST(record.at("readers").as_int64() == 0);
  std::int64_t turns = 0;
  for (const auto& each : record.at("turns").as_object()) turns += each.value().as_int64();
  BOOST_TEST(node.stat.version == 2 * turns, "entering and leaving change the witness once each");
  if (!turns) return;
  BOOST_TEST_MESSAGE(boost::unit_test::framework::current_test_case().p_name
                     << ": " << record.at("hand_offs") << " hand-offs, turns " << record.at("turns"));
}

}  // namespace interop
