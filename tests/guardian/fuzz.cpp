// Mutated messages, against the reader and what comes of them. ZKRECIPES_FUZZ_MESSAGES tells how many;
// ZKRECIPES_FUZZ_SEED which ones.
#include <cstdlib>
#include <random>

#include "guardian/guarding.hpp"
#include "peer_connection.hpp"
#include "process_identity.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

std::uint64_t setting(const char* name, std::uint64_t usual) {
  const auto* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  std::string next() {
    auto line = valid();
    for (auto changes = draw(4); changes > 0; --changes) change(line);
    return line;
  }

 private:
  std::string valid() {
    const auto id = static_cast<std::int64_t>(draw(4)) + 1;
    const auto record = "/e" + std::to_string(draw(5));
    switch (draw(8)) {
      case 0: return text_of(backend::guardian_hello{std::string(32, 'c'), std::chrono::milliseconds(draw(2) * 1'000)});
      case 1: return text_of(session_of(id));
      case 2: return text_of(backend::guarded_session_end{id});
      case 3: return text_of(backend::guardian_complete());
      case 4: return text_of(backend::guardian_ping());
      case 5: return text_of(backend::guarded_term_end{id, record, "_c_1"});
      default: return text_of(term_of(id, record));
    }
  }
  static std::string text_of(const backend::guardian_message& what) {
    auto line = backend::to_line(what).value();
    line.pop_back();
    return line;
  }
  void change(std::string& line) {
    if (line.empty()) return line.push_back('{');
    const auto at = draw(line.size());
    const auto length = draw(8) + 1;
    switch (draw(8)) {
      case 0: line[at] = static_cast<char>(draw(256)); return;
      case 1: line.erase(at, length); return;
      case 2: line.insert(at, length, static_cast<char>(draw(256))); return;
      case 3: line.insert(at, line.substr(draw(line.size()), length * 8)); return;
      case 4: line.resize(at); return;
      case 5: line.insert(at, pieces_[draw(std::size(pieces_))]); return;
      case 6: line.insert(at, draw(64), "[{\""[draw(3)]); return;
      default: std::swap(line[at], line[draw(line.size())]); return;
    }
  }

  static constexpr const char* pieces_[] = {"null",    "-1",      "1e308",           "18446744073709551616",
                                            "\\u0000", "\\ud800", ",\"id\":1",       "true",
                                            "{}",      "[]",      "\xff\xfe",        "\"\"",
                                            "\\",      "/../",    "\"seat\":\"/\",", "\"type\":\"term\",",
                                            "\x7f",    "0x"};
  std::mt19937_64 random_;
};

class no_line final : public process_line {
  void drain() override {}
  void close() override {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fuzzed, guarding)

BOOST_AUTO_TEST_CASE(mutated_messages_are_taken_or_refused_and_never_more_is_held_than_allowed) {
  const auto count = setting("ZKRECIPES_FUZZ_MESSAGES", 5'000);
  const auto seed = setting("ZKRECIPES_FUZZ_SEED", 1);
  mutator from(seed);
  limits most;
  most.sessions = 3;
  most.terms = 7;
  std::uint64_t lines = 0;
  event_log to([&](std::string_view line) { lines += line.find("hush") == line.npos; });
  registry known(io.get_executor(), most, {}, to, [](held_process_ptr, std::vector<held_session>) {});
  const peer ourselves{::getpid(), start_of(::getpid()).value(), ::geteuid(), ::getegid()};
  std::uint64_t taken = 0, refused = 0, number = 0;
  no_line line;
  std::unique_ptr<conversation> talk;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!talk) {
      talk = std::make_unique<conversation>(known, to, ourselves, ++number, line);
      std::vector<descriptor> passed;
      passed.push_back(open_pidfd(::getpid()));
      const backend::guardian_hello hello{std::string(32, 'c'), 0ms};
      auto greeting = backend::to_line(hello).value();
      greeting.pop_back();
      BOOST_TEST_REQUIRE(!talk->hear(greeting, std::move(passed)));
    }
    const auto text = from.next();
    const auto answer = talk->hear(text, {});
    const auto read = backend::parse_guardian_message(text);
    if (read.message) {
      ++taken;
      const auto written = backend::to_line(*read.message);  // what was read can be written, and is then the same
      BOOST_TEST_REQUIRE(written.has_value(), text);
    }
    const bool is_over = answer && answer->type == backend::guardian_answer::kind::refused;
    if (is_over) ++refused, talk.reset();
    BOOST_TEST_REQUIRE(known.session_count() <= most.sessions);
    BOOST_TEST_REQUIRE(known.term_count() <= most.terms);
  }
  talk.reset();
  BOOST_TEST(taken > count / 10);
  BOOST_TEST(refused > count / 10);
  BOOST_TEST_MESSAGE("seed " << seed << ": " << count << " messages, " << taken << " taken, " << refused << " refused");
}

BOOST_AUTO_TEST_CASE(mutated_bytes_on_a_socket_leave_a_guardian_that_works) {
  start();
  mutator from(setting("ZKRECIPES_FUZZ_SEED", 1) + 1);
  const auto rounds = setting("ZKRECIPES_FUZZ_MESSAGES", 5'000) / 100;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    talker by(options.socket.path);
    const auto pidfd = open_pidfd(::getpid());
    auto bytes = from.next() + "\n";
    for (int j = 0; j < 20; ++j) bytes += from.next() + "\n";
    by.send(*backend::to_line(backend::guardian_hello{std::string(32, 'c'), 0ms}) + bytes, {pidfd.get()});
    io.restart();
    io.poll();
  }
  run_until([&] { return guard->connection_count() == 0u; }, "the ends of the connections");
  see_another_death();
}

BOOST_AUTO_TEST_SUITE_END()
