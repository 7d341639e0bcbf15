// Members of one double barrier at `/m`.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/double_barrier.hpp>

#include "ensemble/ensemble_case.hpp"

namespace zkrecipes::test {

/// One member with a session of its own, on its way in.
struct guest {
  guest(session over, asio::any_io_executor executor, int size)
      : zk(std::move(over)), at(zk, "/m", size), entered(executor), left(executor) {}

  bool is_in() { return entered.done() && !entered.error(); }
  attendance& inside() { return entered.result<0>(); }
  void leave() { inside().async_leave(left.token()); }

  session zk;
  double_barrier at;
  diagnostic why;
  recorder<attendance> entered;
  recorder<> left;
};

class double_barrier_case : public ensemble_case {
 public:
  void teardown() {
    guests_.clear();
    ensemble_case::teardown();
  }

  guest& come(session over, int size = 2) {
    auto& who = *guests_.emplace_back(std::make_unique<guest>(std::move(over), executor(), size));
    who.at.async_enter(who.why, who.entered.token());
    return who;
  }
  guest& come(int size = 2) { return come(connect(), size); }
  /// Comes, and waits until its node stands in line.
  guest& wait(session over, int size = 2) {
    const auto before = present();
    auto& who = come(std::move(over), size);
    BOOST_TEST_REQUIRE(run_until([&] { return present() == before + 1; }));
    return who;
  }
  guest& wait(int size = 2) { return wait(connect(), size); }

  std::size_t present() { return exists("/m") ? children("/m").size() : 0; }

  void expect_in(guest& who, std::int64_t round) {
    BOOST_TEST_REQUIRE(run_until([&] { return who.entered.done(); }));
    BOOST_TEST_REQUIRE(!who.entered.error(), who.entered.error().message());
    BOOST_TEST(who.inside().round() == round);
    BOOST_TEST(!who.inside().error());
  }
  /// Two members that have entered the first round together; the first one uses this session.
  std::pair<guest&, guest&> meet(session over) {
    auto& first = wait(std::move(over));
    auto& second = come();
    expect_in(first, 1);
    expect_in(second, 1);
    return {first, second};
  }
  std::pair<guest&, guest&> meet() { return meet(connect()); }
  void expect_out(guest& who, error_code with = {}) {
    BOOST_TEST_REQUIRE(run_until([&] { return who.left.done(); }));
    BOOST_TEST(who.left.error() == with, who.left.error().message());
    BOOST_TEST(who.left.calls() == 1);
  }
  void leave_all(std::vector<guest*> all) {
    for (auto* each : all) each->leave();
    for (auto* each : all) expect_out(*each);
  }
  /// Checks that no member is left, and that the path holds nothing but the record.
  void finish() {
    BOOST_TEST(run_until([&] { return present() == 0; }));
    remove("/m");
  }

 private:
  std::vector<std::unique_ptr<guest>> guests_;
};

}  // namespace zkrecipes::test
