// Entries that are removed from a stream while a group is moved back. The broker is a script, so the case says what
// comes first.
#include <algorithm>
#include <array>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "brokers/false_broker.hpp"
#include "ensemble/hold_point.hpp"
#include "redis/redis_reply_text.hpp"
#include "redis/source_case.hpp"

namespace zkrecipes::test {

using redis_words = std::vector<std::string>;

/// A broker with the entries 1-0 and 2-0, and 3-0 once they were looked at to remove what is in front of them.
class trimming_case : public source_case<redis_case> {
 public:
  trimming_case()
      : compared(executor()), broker_(io(), [this](asio::ip::tcp::socket to) { return serve(std::move(to)); }) {
    with.hosts = broker_.address();
    with.groups = {"g", "h"};
  }
  void teardown() {
    broker_.close();
    source_case::teardown();
  }

  std::string entry(const std::string& id) {
    return array_of(bulk(id), array_of(bulk("key"), bulk("k"), bulk("data"), bulk(id)));
  }
  bool was_asked(const redis_words& part) const {
    return std::ranges::any_of(
        asked, [&](const redis_words& each) { return std::ranges::search(each, part).begin() != each.end(); });
  }
  /// Consumes both entries, and begins to wait for more. Then the broker has been asked for the last entries of the
  /// groups, and has not answered.
  recorder<messages> consume_both() {
    open_source();
    commit(receive_all(2));
    create("/t/0000/_at/h", text_of_position("2-0"));
    auto next = begin_to_receive(1);
    BOOST_TEST_REQUIRE(run_until([&] { return compared.is_reached(); }));
    return next;
  }
  static std::string text_of_position(const std::string& last) {
    return "{\"zkrecipes\":\"stream_position\",\"last\":\"" + last + "\"}";
  }

  hold_point compared;
  std::vector<redis_words> asked;

 private:
  asio::awaitable<void> serve(asio::ip::tcp::socket to) {
    detail::reply_reader reader;
    std::array<char, 4'096> bytes{};
    for (;;) {
      auto [error, size] = co_await to.async_read_some(asio::buffer(bytes), tuple);
      if (error) co_return;
      reader.feed({bytes.data(), size});
      while (const auto* command = reader.next()) {
        redis_words words;
        for (std::size_t i = 0; i < command->elements; ++i) words.emplace_back(command->element[i]->str);
        asked.push_back(words);
        const bool is_comparison = words[0] == "XRANGE" && words[2] != "0-0";
        was_compared_ = was_compared_ || is_comparison;
        if (is_comparison) co_await compared.pass_in_the_end();
        const auto reply = answer(words);
        auto written = co_await asio::async_write(to, asio::buffer(reply), tuple);
        if (std::get<0>(written)) co_return;
      }
    }
  }
  std::string answer(const redis_words& command) {
    const auto& name = command[0];
    if (name == "ROLE") return array_of(bulk("master"), ":0\r\n", "*0\r\n");
    if (name == "XINFO") return array_of(bulk("length"), ":2\r\n", bulk("last-generated-id"), bulk("2-0"));
    if (name == "XRANGE") return command[2] == "0-0" ? "*0\r\n" : array_of(entry(command[2]));
    if (name != "XREAD") return ":0\r\n";
    const auto& behind = command.back();
    if (behind == "0-0") return array_of(array_of(bulk("orders:0"), array_of(entry("1-0"), entry("2-0"))));
    if (behind == "2-0" && was_compared_) return array_of(array_of(bulk("orders:0"), array_of(entry("3-0"))));
    return "*-1\r\n";
  }

  bool was_compared_ = false;
  false_broker broker_;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_trimming, trimming_case)

BOOST_AUTO_TEST_CASE(what_all_groups_have_consumed_is_removed) {
  auto next = consume_both();
  compared.open();
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(data_of(next.result<0>()) == std::vector<std::string>({"3-0"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(run_until([&] { return was_asked({"XTRIM", "orders:0", "MINID", "~", "2-0"}); }));
}

BOOST_AUTO_TEST_CASE(nothing_is_removed_that_a_group_was_moved_back_to_meanwhile) {
  auto next = consume_both();
  must(run(zk().async_set("/t/0000/_at/h", text_of_position("1-0"), any_version, tuple)));
  compared.open();
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(data_of(next.result<0>()) == std::vector<std::string>({"3-0"}), boost::test_tools::per_element());
  // The next XREAD is sent behind an XTRIM, if there is one.
  BOOST_TEST_REQUIRE(run_until([&] { return was_asked({"STREAMS", "orders:0", "3-0"}); }));
  BOOST_TEST(!was_asked({"XTRIM"}));
}

BOOST_AUTO_TEST_SUITE_END()
