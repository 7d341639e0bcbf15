// A consumer: only the elected one of all replicas works.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "logged_career.hpp"
#include "phase_log.hpp"
#include "recorder.hpp"
#include "roles.hpp"

namespace demo {

namespace {

void print(const std::string& id, zkrecipes::error_code error, std::exception_ptr failure) {
  std::cerr << "consumer " << id << ": " << error.message();
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& reason) {
    std::cerr << ": " << reason.what();
  }
  std::cerr << '\n';
}

}  // namespace

int consume(const consumer_settings& how) {
  boost::asio::io_context io;
  zkrecipes::session session(io.get_executor(), session_options(how.hosts, how.timeout));
  recorder records(zkrecipes::queue(session, queue_path), how);
  phase_log log(how.folder / how.id);
  logged_career career(records, log, how.id);
  zkrecipes::consumer_coordinator coordinator(session, election_path, {.id = how.id});
  boost::asio::signal_set stop(io, SIGTERM, SIGINT);
  stop.async_wait([&](zkrecipes::error_code error, int) {
    if (!error) coordinator.stop();
  });
  int status = 0;
  coordinator.async_run(career, [&](zkrecipes::error_code error) {
    if (error) print(how.id, error, coordinator.failure());
    status = error ? 1 : 0;
    stop.cancel();
    session.async_close([&](zkrecipes::error_code) { io.stop(); });
  });
  io.run();
  return status;
}

}  // namespace demo
