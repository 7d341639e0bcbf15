// Readers share, writers exclude, whatever their language.
#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;

BOOST_FIXTURE_TEST_SUITE(read_write_locks, interop_case)

BOOST_AUTO_TEST_CASE(readers_share_and_a_writer_waits_for_them) {
  open({{"cpp1", "read"}, {"java1", "read"}, {"cpp2", "write"}, {"java2", "write"}});
  BOOST_TEST(ask("cpp1", "enter") == "ok");
  BOOST_TEST(ask("java1", "enter") == "ok");
  BOOST_TEST(witnessed().at("readers").as_int64() == 2);
  worker("java2").tell("enter");
  await_in_line(3);
  worker("cpp2").tell("enter");
  await_in_line(4);
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  BOOST_TEST(!answers_soon("java2"));
  BOOST_TEST(ask("java1", "leave") == "ok");
  BOOST_TEST(answer_of("java2") == "ok");
  BOOST_TEST(!answers_soon("cpp2"));
  worker("cpp1").tell("enter");
  await_in_line(3);
  worker("java1").tell("enter");
  await_in_line(4);
  BOOST_TEST(ask("java2", "leave") == "ok");
  BOOST_TEST(answer_of("cpp2") == "ok");
  BOOST_TEST(!answers_soon("java1"));
  BOOST_TEST(!answers_soon("cpp1"));
  BOOST_TEST(ask("cpp2", "leave") == "ok");
  BOOST_TEST(answer_of("cpp1") == "ok");
  BOOST_TEST(answer_of("java1") == "ok");
  BOOST_TEST(witnessed().at("readers").as_int64() == 2);
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  BOOST_TEST(ask("java1", "leave") == "ok");
  finish();
}

BOOST_AUTO_TEST_CASE(we_and_curator_contend) {
  open({{"cpp1", "read"}, {"java1", "read"}, {"cpp2", "write"}, {"java2", "write"}});
  take_turns(200);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

// Our readers can not share the lock with kazoo's. A reader of kazoo's waits for writers behind it, too (kazoo 2.8,
// issue 649 there), and those writers wait for the reader.
BOOST_AUTO_TEST_CASE(we_and_kazoos_writers_that_know_our_names_contend) {
  open({{"cpp1", "read"}, {"python1", "write"}, {"cpp2", "write"}, {"python2", "write"}});
  take_turns(200);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
