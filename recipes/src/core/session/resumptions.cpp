#include "session/resumptions.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace zkrecipes::detail {

namespace {
// A resumption takes some ten microseconds, and at the worst some hundred.
constexpr std::size_t at_once = 256;
}  // namespace

void resumptions::add(scheduler& on, function resume) {
  auto all = on.resumptions.lock();
  if (!all) on.resumptions = all = std::make_shared<resumptions>(on.strand);
  if (all->posted_ < at_once && all->waiting_.empty()) {
    all->post(std::move(resume));
  } else {
    all->waiting_.push_back(std::move(resume));
  }
}

void resumptions::post(function resume) {
  ++posted_;
  asio::post(strand_, [self = shared_from_this(), resume = std::move(resume)] {
    struct end {  // also where a handler throws
      ~end() { all.end_one(); }
      resumptions& all;
    } behind{*self};
    resume();
  });
}

void resumptions::end_one() {
  if (--posted_ > 0) return;
  while (posted_ < at_once && !waiting_.empty()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    post(std::move(next));
  }
}

}  // namespace zkrecipes::detail
