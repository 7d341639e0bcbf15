// Every operation completes exactly once, in bounded time, never inside the call, and with an error that is expected
// there.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include "operations/setting.hpp"
#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

/// The state of the session when the operation begins; the last two are states of the object instead.
enum class state {
  never_connected,
  connecting,
  connected,
  suspended,
  expired,
  closed_meanwhile,  ///< `async_close` is called right after the operation,
  closing,           ///< or right before it.
  closed,
  auth_failed,
  out_of_descriptors,
  made_by_default,
  moved_from,
};
constexpr const char* names[] = {"never connected", "connecting",         "connected",       "suspended",
                                 "expired",         "closed meanwhile",   "closing",         "closed",
                                 "auth failed",     "out of descriptors", "made by default", "moved from"};
constexpr int states = static_cast<int>(std::size(names));

bool is_over(state in) { return in >= state::closed_meanwhile && in <= state::auth_failed; }
bool is_of_nothing(state in) { return in >= state::made_by_default; }
bool begins_unconnected(state in) { return in == state::never_connected || in == state::connecting; }
bool is_cut_off(state in) { return in == state::never_connected || in == state::out_of_descriptors; }

/// One operation in one state.
class trial {
 public:
  trial(const subject& whose, const operation& what, state in)
      : whose_(whose), what_(what), in_(in), where_(in == state::never_connected ? door::shut : door::open) {}

  void run() {
    prepare();
    if (object_) attempt();
    BOOST_TEST(!where_.ran_away(), "busy loop: " << *this);
  }

  friend std::ostream& operator<<(std::ostream& out, const trial& t) {
    return out << t.what_.name << ", " << names[static_cast<int>(t.in_)];
  }

 private:
  session& zk() { return where_.zk(); }
  bool has_state(session_state s) { return zk().status().state == s; }
  bool done() const { return ending_->calls > 0; }

  void prepare() {
    if (in_ == state::made_by_default) {
      object_ = whose_.by_default();
      return;
    }
    if (!begins_unconnected(in_)) where_.wait(10s, [&] { return has_state(session_state::connected); });
    where_.inside().run([&] {
      whose_.make(zk(), [this](error_code error, std::shared_ptr<void> made) {
        BOOST_TEST(!error, error.message() << ": " << *this);
        object_ = std::move(made);
      });
    });
    BOOST_TEST_REQUIRE(where_.wait(10s, [&] { return object_ != nullptr; }), "no object: " << *this);
    where_.keep(object_);
    enter();
  }

  void enter() {
    auto& entrance = where_.entrance();
    switch (in_) {
      case state::suspended:
        entrance.stands = door::shut;
        where_.break_connection();
        return reach([&] { return has_state(session_state::suspended); });
      case state::expired:
        entrance = {door::shut, 1};
        where_.expire();
        return reach([&] { return has_state(session_state::expired); });
      case state::closing: return where_.inside().run([&] { close(); });
      case state::closed: where_.inside().run([&] { close(); }); return reach([&] { return closed_; });
      case state::auth_failed:
        entrance.stands = door::bad_credentials;
        where_.break_connection();
        return reach([&] { return has_state(session_state::closed); });
      case state::out_of_descriptors:
        entrance.stands = door::no_descriptors;
        where_.break_connection();
        return reach([&] { return zk().status().reason == errc::no_descriptors; });
      case state::moved_from: where_.keep(whose_.move_away(object_.get())); return;
      default: return;
    }
  }
  void reach(const std::function<bool()>& condition) {
    BOOST_TEST(where_.wait(20s, condition), "the state is not reached: " << *this);
  }
  void close() {
    zk().async_close([this](error_code) { closed_ = true; });
  }

  void attempt() {
    ending_->initiating = true;
    where_.inside().run([&] {
      what_.begin(object_.get(), asio::bind_executor(where_.inside().executor(), record_ending{ending_}));
      ending_->initiating = false;
      if (in_ == state::closed_meanwhile) close();
    });
    bool alone = where_.wait(5s, [&] { return done(); });
    if (!alone && (in_ == state::suspended || in_ == state::expired)) where_.entrance().stands = door::open;
    alone = alone || where_.wait(60s, [&] { return done(); });
    if (!alone) end_by_closing();
    BOOST_TEST(!ending_->inline_call, "inside the call: " << *this);
    if (done()) BOOST_TEST(is_explained(!alone), "\"" << ending_->error.message() << "\": " << *this);
    where_.inside().run([&] { close(); });
    where_.pass(20s);
    BOOST_TEST(ending_->calls <= 1, "more than once: " << *this);
  }

  void end_by_closing() {
    BOOST_TEST((!is_over(in_) && !is_of_nothing(in_)), "it does not end: " << *this);
    where_.inside().run([&] { close(); });
    BOOST_TEST(where_.wait(30s, [&] { return done(); }), "the end of its session does not end it: " << *this);
  }

  bool is_explained(bool by_close) const {
    const auto& error = ending_->error;
    if (is_of_nothing(in_)) return error == errc::closed;
    if (what_.also.contains(error)) return true;
    if (!error)
      return what_.needs_nothing || by_close || !(is_cut_off(in_) || in_ == state::closed || in_ == state::auth_failed);
    if (error == errc::closed) return by_close || is_over(in_);
    if (error == errc::auth_failed) return in_ == state::auth_failed;
    if (error == errc::connection_loss) return is_cut_off(in_) || in_ == state::suspended;
    return error == errc::session_expired && in_ == state::expired;
  }

  const subject& whose_;
  const operation& what_;
  state in_;
  setting where_;
  std::shared_ptr<ending> ending_ = std::make_shared<ending>();
  bool closed_ = false;
  std::shared_ptr<void> object_;
};

bool can_be(const subject& whose, state in) {
  if (in == state::made_by_default) return static_cast<bool>(whose.by_default);
  if (in == state::moved_from) return static_cast<bool>(whose.move_away);
  return !whose.needs_connection || !begins_unconnected(in);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(operations)

BOOST_AUTO_TEST_CASE(each_that_is_declared_is_tried) {
  std::multiset<std::string> tried;
  for (const auto& whose : all_subjects()) {
    for (const auto& each : whose.operations) tried.insert(each.name);
  }
  const auto all = declared_operations();
  const std::multiset<std::string> declared(all.begin(), all.end());
  BOOST_TEST(declared.size() > 100u);
  for (const auto& each : declared) {
    const auto wanted = each.starts_with("producer_base::") ? 2u : 1u;  // of queues, and of topics
    BOOST_TEST(tried.count(each) == wanted, each << " is tried by " << tried.count(each));
  }
  for (const auto& each : tried) BOOST_TEST(declared.count(each) == 1u, "not declared: " << each);
}

BOOST_AUTO_TEST_CASE(each_completes_once_in_every_state) {
  std::size_t operations = 0;
  std::map<state, int> runs;
  for (const auto& whose : all_subjects()) {
    for (const auto& what : whose.operations) {
      ++operations;
      for (int i = 0; i < states; ++i) {
        const auto in = static_cast<state>(i);
        if (!can_be(whose, in)) continue;
        trial(whose, what, in).run();
        ++runs[in];
      }
    }
  }
  std::ostringstream told;
  told << operations << " operations";
  for (const auto& [in, count] : runs) told << "; " << names[static_cast<int>(in)] << ": " << count;
  BOOST_TEST_MESSAGE(told.str());
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return std::regex_replace(text, std::regex("//[^\n]*"), "");
}

/// The text between this parenthesis and its partner.
std::string within(const std::string& text, std::size_t open) {
  int depth = 1;
  for (auto at = open + 1; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(open + 1, at - open - 1);
  }
  throw std::logic_error("a parenthesis is not closed");
}

/// The names of the parameters, without that of the completion token.
std::string names_of(const std::string& parameters) {
  std::vector<std::string> names;
  static const std::regex name("(\\w+)\\s*(,|$)");
  const auto bare = std::regex_replace(parameters, std::regex("\\s*=\\s*[^,]*"), "");  // without default values
  const auto flat = std::regex_replace(bare, std::regex("<[^<>]*>"), "");
  const auto clear = std::regex_replace(flat, std::regex("<[^<>]*>"), "");  // these brackets were around others
  for (std::sregex_iterator each(clear.begin(), clear.end(), name), end; each != end; ++each)
    names.push_back((*each)[1]);
  std::string all;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) all += (i ? ", " : "") + names[i];
  return all;
}

void collect(const std::string& text, std::vector<std::string>& all) {
  static const std::regex what("(?:^|\n)class (\\w+)[^;{]*\\{|auto (async_\\w+)\\(");
  std::string of;
  for (std::sregex_iterator each(text.begin(), text.end(), what), end; each != end; ++each) {
    if ((*each)[1].matched) {
      of = (*each)[1];
    } else {
      const auto open = static_cast<std::size_t>(each->position() + each->length()) - 1;
      all.push_back(of + "::" + (*each)[2].str() + "(" + names_of(within(text, open)) + ")");
    }
  }
}

}  // namespace

std::vector<std::string> declared_operations() {
  std::vector<std::string> all;
  for (const auto& each : std::filesystem::recursive_directory_iterator(ZKRECIPES_HEADERS)) {
    const auto name = each.path().stem().string();
    // Operations of a spooled producer end without a session, and its disk has a thread; tests/spool tries them. Those
    // of Redis streams and RabbitMQ queues need a broker as well; tests/redis and tests/rabbit try them.
    const bool needs_broker = name.starts_with("redis_") || name.starts_with("rabbit_");
    const bool is_tried_elsewhere = name == "spooled_producer" || needs_broker;
    if (each.path().extension() == ".hpp" && !is_tried_elsewhere) collect(read(each.path()), all);
  }
  return all;
}

}  // namespace zkrecipes::test
