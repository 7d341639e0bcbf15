#include "run/undertaker.hpp"

#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "session/make.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::chrono::seconds time_limit{20};

}  // namespace

undertaker::undertaker(const surroundings& where, detail::dead_session what) : where_(where), what_(std::move(what)) {
  auto world = [&](asio::any_io_executor strand) { return make_world(where_, std::move(strand)); };
  on_ = detail::make_scheduler("undertaker", where_.inside->executor(), world);
}

undertaker::~undertaker() {
  where_.inside->kill([this] { on_.reset(); });
}

void undertaker::begin() {
  where_.inside->run([this] {
    asio::co_spawn(on_->strand, detail::end_dead_session(on_, what_, on_->now() + time_limit),
                   [this](std::exception_ptr failure, detail::dead_session_result all) {
                     if (failure) std::rethrow_exception(failure);
                     result_ = all;
                     where_.notes->note(where_.inside->number(), "guardian is done", all.error.message(),
                                        static_cast<std::int64_t>(all.died));
                   });
  });
}

}  // namespace zkrecipes::simulation
