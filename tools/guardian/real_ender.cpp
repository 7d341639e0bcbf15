#include "real_ender.hpp"

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "guardian/dead_session.hpp"
#include "secrets.hpp"
#include "session/make.hpp"

namespace guardian {

namespace detail = zkrecipes::detail;

namespace {

/// `session` keeps the secrets, because it can overwrite them afterwards.
detail::dead_session to_dead_session(const session_of_the_dead& from) {
  detail::dead_session to{from.session.key, from.session.servers, from.session.digest, {}, {}};
  for (const auto& each : from.terms) to.terms.push_back({each.record, each.node, each.seat});
  return to;
}

}  // namespace

session_ender make_real_ender(const boost::asio::any_io_executor& executor) {
  auto schedule = detail::make_scheduler("guardian", executor, &zkrecipes::backend::make_real_world);
  return [schedule](session_of_the_dead what, zkrecipes::lease_clock::time_point deadline,
                    std::function<void(const ending&)> done) {
    auto dead = to_dead_session(what);
    wipe(what.session);
    boost::asio::co_spawn(
        schedule->strand, detail::end_dead_session(schedule, std::move(dead), deadline),
        [done = std::move(done)](const std::exception_ptr& failure, const detail::dead_session_result& result) {
          if (failure) return done({"an exception", 0, 0, false});
          done({result.error ? result.error.message() : "", result.died, result.passed_over, result.is_closed});
        });
  };
}

}  // namespace guardian
