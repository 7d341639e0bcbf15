// Cases of dead letters: a part of the suites redis_operators and rabbit_operators.

BOOST_AUTO_TEST_CASE(a_revived_letter_is_the_last_message_and_is_processed) {
  const auto name = put_with_key("poison", "smith");
  const auto letter = park();
  BOOST_TEST(letter.item == "0000/" + name);
  BOOST_TEST(letter.data == "poison");
  BOOST_TEST(letter.attempts == 3);
  put_all({"1"});
  const auto error = revive(letter);
  BOOST_TEST(!error, error.message());
  BOOST_TEST(dead().empty());
  std::vector<std::string> keys;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    keys.push_back(item.key);
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == std::vector<std::string>({"1", "poison"}), boost::test_tools::per_element());
  BOOST_TEST(keys.back() == "smith");
  BOOST_TEST((revive(letter) == errc::no_node));
  end_consumers(3);
}

BOOST_AUTO_TEST_CASE(a_discarded_letter_is_gone) {
  const auto letter = make_letter();
  BOOST_TEST(!discard(letter));
  BOOST_TEST(dead().empty());
  BOOST_TEST((discard(letter) == errc::no_node));
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
  end_consumers(2);
}

BOOST_AUTO_TEST_CASE(a_letter_that_is_cut_is_not_revived) {
  put_with_key(std::string(2 << 20, 'x'), "smith");
  const auto letter = park();
  BOOST_TEST(letter.key == "smith");
  BOOST_TEST(letter.data.size() + letter.missing_bytes == std::size_t{2 << 20});
  BOOST_TEST(letter.missing_bytes > 0u);
  BOOST_TEST((revive(letter) == errc::too_large));
  BOOST_TEST(dead().size() == 1u);
  BOOST_TEST(!discard(letter));
  BOOST_TEST(dead().empty());
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_consumers(2);
}
