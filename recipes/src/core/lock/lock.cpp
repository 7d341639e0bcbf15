#include <utility>

#include <zkrecipes/lock.hpp>

#include "line/line_spec.hpp"
#include "line/waiter.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes {

using namespace detail;

lock::lock(session over, std::string path, line_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(std::move(options)) {
  require_session(session_);
  require_path("lock path", path_);
  require_id("line_options::id", options_.id);
}

void lock::start_acquire(owner_handler h, core_ptr core, std::string path, line_options options,
                         lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  auto turn = own_in_turn(core, lock_line(std::move(path)), revocable_data(options.id), &nearest_ahead,
                          std::move(options.on_position));
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(turn)));
}

void lock::start_try_acquire(owner_handler h, core_ptr core, std::string path, line_options options) {
  auto trying = own_if_free(core, lock_line(std::move(path)), revocable_data(options.id));
  launch(*core->get_scheduler(), std::move(h), std::move(trying));
}

void lock::start_members(handler_for<void(error_code, std::vector<line_member>)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), read_line(core, lock_line(std::move(path)), &nearest_ahead));
}

void lock::start_request_revocation(handler_for<void(error_code)> h, core_ptr core, std::string path,
                                    std::chrono::milliseconds grace) {
  launch(*core->get_scheduler(), std::move(h), request_revocation(core, lock_line(std::move(path)), grace));
}

}  // namespace zkrecipes
