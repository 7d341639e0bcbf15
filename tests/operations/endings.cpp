// What ends each operation where there is no connection, beside the table of docs/operation-endings.md.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "operations/setting.hpp"
#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

constexpr auto page = ZKRECIPES_DOCS "/operation-endings.md";
constexpr const char* table_begins = "<!-- The table begins: tests/operations compares it. -->\n";
constexpr const char* table_ends = "<!-- The table ends. -->\n";

/// The state of the session when the operation begins. There is no connection afterwards, either.
enum class away { never_connected, suspended, expired, closed };
constexpr away all_states[] = {away::never_connected, away::suspended, away::expired, away::closed};

/// `retry_policy::limit` of a session that asks for nothing, and what the clock of a busy test may add.
const simulation::span limit = retry_policy().limit;
constexpr simulation::span slack = 1s;

std::string name_of(const error_code& error) {
  static const std::map<error_code, std::string> names{
      {error_code(), "success"},
      {errc::connection_loss, "`connection_loss`"},
      {errc::session_expired, "`session_expired`"},
      {errc::lease_lapsed, "`lease_lapsed`"},
      {errc::closed, "`closed`"},
      {errc::no_node, "`no_node`"},
      {errc::timed_out, "`timed_out`"},
      {errc::superseded, "`superseded`"},
  };
  const auto found = names.find(error);
  return found == names.end() ? error.message() : found->second;
}

/// One operation that begins in one state.
class lonely_trial {
 public:
  lonely_trial(const subject& whose, const operation& what, away in)
      : whose_(whose), what_(what), in_(in), where_(in == away::never_connected ? door::shut : door::open) {}

  /// How it ends.
  std::string run() {
    prepare();
    const auto begun = where_.now();
    where_.inside().run(
        [&] { what_.begin(object_.get(), asio::bind_executor(where_.inside().executor(), record_ending{ending_})); });
    where_.wait(3 * limit, [&] { return ending_->calls > 0; });
    if (ending_->calls == 0) return "waits";
    const auto took = where_.now() - begun;
    BOOST_TEST(took <= limit + slack, what_.name << " ends after " << took.count() << " ns");
    return name_of(ending_->error);
  }

 private:
  bool has_state(session_state s) { return where_.zk().status().state == s; }

  void prepare() {
    if (in_ != away::never_connected) reach([&] { return has_state(session_state::connected); });
    where_.inside().run([&] {
      whose_.make(where_.zk(), [this](error_code, std::shared_ptr<void> made) { object_ = std::move(made); });
    });
    reach([&] { return object_ != nullptr; });
    where_.keep(object_);
    if (in_ == away::suspended) {
      where_.entrance().stands = door::shut;
      where_.break_connection();
      reach([&] { return has_state(session_state::suspended); });
    } else if (in_ == away::expired) {
      where_.entrance() = {door::shut, 1};
      where_.expire();
      reach([&] { return has_state(session_state::expired); });
    } else if (in_ == away::closed) {
      where_.inside().run([&] { where_.zk().async_close([](error_code) {}); });
      reach([&] { return has_state(session_state::closed); });
    }
  }
  void reach(const std::function<bool()>& condition) {
    BOOST_TEST_REQUIRE(where_.wait(20s, condition), "the state is not reached: " << what_.name);
  }

  const subject& whose_;
  const operation& what_;
  away in_;
  setting where_;
  std::shared_ptr<ending> ending_ = std::make_shared<ending>();
  std::shared_ptr<void> object_;
};

/// Without the parameters: `lock::async_acquire`.
std::string short_name(const operation& what) { return "`" + what.name.substr(0, what.name.find('(')) + "`"; }

/// The operations by how they end, as rows of the page: those of one class that end alike share a row.
std::string seen_table() {
  using endings = std::vector<std::string>;
  std::vector<std::pair<endings, std::vector<std::string>>> rows;
  for (const auto& whose : all_subjects()) {
    for (const auto& what : whose.operations) {
      endings ends;
      for (const auto in : all_states) {
        const bool is_possible = !whose.needs_connection || in != away::never_connected;
        ends.push_back(is_possible ? lonely_trial(whose, what, in).run() : "-");
      }
      auto row = std::ranges::find(rows, ends, [](const auto& each) { return each.first; });
      if (row == rows.end()) row = rows.insert(rows.end(), {ends, {}});
      const auto name = short_name(what);
      if (std::ranges::find(row->second, name) == row->second.end()) row->second.push_back(name);
    }
  }
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& each) { return each.second.size(); });
  std::ostringstream table;
  table << "| never connected | connection lost | session expired | closed | operations |\n|---|---|---|---|---|\n";
  for (const auto& [ends, names] : rows) {
    table << "|";
    for (const auto& each : ends) table << ' ' << each << " |";
    for (std::size_t i = 0; i < names.size(); ++i) table << (i == 0 ? " " : ", ") << names[i];
    table << " |\n";
  }
  return table.str();
}

std::string told_table() {
  std::ifstream in(page);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto begin = text.find(table_begins);
  const auto end = text.find(table_ends);
  BOOST_TEST_REQUIRE((begin != text.npos && end != text.npos), "no table in " << page);
  const auto first = begin + std::string_view(table_begins).size();
  return text.substr(first, end - first);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(endings)

BOOST_AUTO_TEST_CASE(without_a_connection_each_operation_ends_as_the_page_says) {
  const auto seen = seen_table();
  BOOST_TEST((seen == told_table()), "docs/operation-endings.md should say:\n" << seen);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace zkrecipes::test
