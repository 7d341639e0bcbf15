#include "hold/acquisition.hpp"

#include <stdexcept>
#include <tuple>
#include <utility>

#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::time_budget;

using answer = std::tuple<zkrecipes::error_code, zkrecipes::ownership>;

acquired unpack(answer got) { return {std::get<0>(got), std::move(std::get<1>(got))}; }

/// `wait` gets in line, `try_once` does not wait; each is called to begin, and the other one is not.
template <class Wait, class Try>
asio::awaitable<acquired> take(bool waits, Wait wait, Try try_once) {
  answer got;
  if (waits) {
    got = co_await wait();
  } else {
    got = co_await try_once();
  }
  co_return unpack(std::move(got));
}

asio::awaitable<acquired> take_lock(zkrecipes::lock from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_acquire_for(budget, as_result); },
      [from]() mutable { return from.async_try_acquire(as_result); });
}

asio::awaitable<acquired> take_permit(zkrecipes::semaphore from, bool waits, time_budget budget) {
  const zkrecipes::diagnostic why;
  auto taking = take(
      waits, [from, budget, why]() mutable { return from.async_acquire_for(1, budget, why, as_result); },
      [from, why]() mutable { return from.async_try_acquire(1, why, as_result); });
  auto result = co_await std::move(taking);
  result.detail = why.text();
  co_return result;
}

asio::awaitable<acquired> take_reading(zkrecipes::read_write_lock from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_acquire_read_for(budget, as_result); },
      [from]() mutable { return from.async_try_acquire_read(as_result); });
}

asio::awaitable<acquired> take_writing(zkrecipes::read_write_lock from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_acquire_write_for(budget, as_result); },
      [from]() mutable { return from.async_try_acquire_write(as_result); });
}

asio::awaitable<acquired> take_leadership(zkrecipes::election from, bool waits, time_budget budget) {
  return take(
      waits, [from, budget]() mutable { return from.async_campaign_for(budget, as_result); },
      [from]() mutable { return from.async_try_campaign(as_result); });
}

asio::awaitable<acquired> begin(zkrecipes::session over, std::string path, const hold_options& how,
                                time_budget budget) {
  zkrecipes::line_options line;
  line.id = how.id;
  zkrecipes::election_options candidate;
  candidate.id = how.id;
  switch (how.kind) {
    case hold_kind::lock: break;
    case hold_kind::read: return take_reading({over, path, line}, how.waits, budget);
    case hold_kind::write: return take_writing({over, path, line}, how.waits, budget);
    case hold_kind::semaphore: return take_permit({over, path, how.permits, line}, how.waits, budget);
    case hold_kind::leadership: return take_leadership({over, path, candidate}, how.waits, budget);
  }
  return take_lock({over, path, line}, how.waits, budget);
}

}  // namespace

asio::awaitable<acquired> acquire(zkrecipes::session over, std::string path, const hold_options& how,
                                  time_budget budget) {
  try {
    return begin(std::move(over), std::move(path), how, budget);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

const char* name_of(hold_kind kind) noexcept {
  switch (kind) {
    case hold_kind::semaphore: return "permit";
    case hold_kind::leadership: return "leadership";
    default: return "lock";
  }
}

}  // namespace zkadmin
