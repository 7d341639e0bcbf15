// When entries may be removed, as the positions of the groups say at that moment.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "redis/stream_trimmer.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

/// A consumer of the group "g", which has consumed all up to 5-0. The group "h" is named, too.
class trimmer_case : public fake_session {
 public:
  trimmer_case() {
    connect();
    detail::redis_frame frame;
    frame.session = detail::require_session(zk);
    frame.where.root = "/t";
    frame.options.groups = {"g", "h"};
    trimmer.emplace(std::make_shared<detail::redis_frame>(std::move(frame)), 0, "g");
    trimmer->on_consumed({5, 0});
  }

  /// Positions by group. A missing one has no node.
  void answer_reads(const std::map<std::string, std::string>& positions) {
    BOOST_TEST_REQUIRE(last().pending.size() == 3u);
    answer();  // the catch-up
    for (const std::string group : {"g", "h"}) {
      const auto found = positions.find(group);
      backend::reply reply;
      if (found == positions.end()) reply.error = errc::no_node;
      if (found != positions.end()) reply.data = text_of(found->second);
      const auto asked = answer(std::move(reply));
      BOOST_TEST(asked.path == "/t/0000/_at/" + group);
    }
  }
  /// The ids as text, least first.
  std::vector<std::string> consumed_by_all(const std::map<std::string, std::string>& positions) {
    const auto found = std::make_shared<std::optional<std::vector<std::string>>>();
    asio::co_spawn(strand(), record_consumed_by_all(found), asio::detached);
    settle();
    answer_reads(positions);
    BOOST_TEST_REQUIRE(found->has_value());
    return **found;
  }
  bool is_consumed_by_all(const detail::stream_id& last, const std::map<std::string, std::string>& positions) {
    const auto found = std::make_shared<std::optional<bool>>();
    asio::co_spawn(strand(), record_agreement(last, found), asio::detached);
    settle();
    answer_reads(positions);
    BOOST_TEST_REQUIRE(found->has_value());
    return **found;
  }

  std::optional<detail::stream_trimmer> trimmer;

 private:
  static std::string text_of(const std::string& last) {
    return "{\"zkrecipes\":\"stream_position\",\"last\":\"" + last + "\"}";
  }
  asio::any_io_executor strand() { return detail::require_session(zk)->strand(); }
  detail::awaitable<void> record_consumed_by_all(std::shared_ptr<std::optional<std::vector<std::string>>> into) {
    const auto all = co_await trimmer->consumed_by_all();
    into->emplace();
    for (const auto& each : all) (*into)->push_back(to_string(each));
  }
  detail::awaitable<void> record_agreement(detail::stream_id last, std::shared_ptr<std::optional<bool>> into) {
    const bool is_agreed = co_await trimmer->is_consumed_by_all(last);
    *into = is_agreed;
  }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_trimmer, trimmer_case)

BOOST_AUTO_TEST_CASE(a_group_that_was_moved_back_since_does_not_agree) {
  BOOST_TEST(consumed_by_all({{"g", "5-0"}, {"h", "3-0"}}).size() == 2u);
  BOOST_TEST(!is_consumed_by_all({3, 0}, {{"g", "5-0"}, {"h", "2-9"}}));
}

BOOST_AUTO_TEST_CASE(the_last_entries_of_all_groups_are_told) {
  const strings expected{"3-0", "5-0"};
  BOOST_TEST(consumed_by_all({{"g", "5-0"}, {"h", "3-0"}}) == expected, boost::test_tools::per_element());
  BOOST_TEST(is_consumed_by_all({3, 0}, {{"g", "5-0"}, {"h", "3-0"}}));
}

BOOST_AUTO_TEST_CASE(a_group_without_a_position_keeps_everything) {
  BOOST_TEST(consumed_by_all({{"g", "5-0"}}).empty());
  BOOST_TEST(!is_consumed_by_all({3, 0}, {{"g", "5-0"}}));
}

BOOST_AUTO_TEST_CASE(a_group_at_the_begin_keeps_everything) {
  BOOST_TEST(consumed_by_all({{"g", "5-0"}, {"h", "0-0"}}).empty());
  BOOST_TEST(!is_consumed_by_all({3, 0}, {{"g", "5-0"}, {"h", "0-0"}}));
}

BOOST_AUTO_TEST_SUITE_END()
