#include "session/make.hpp"

#include <stdexcept>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include "backend/guardian/guardian_stream.hpp"
#include "session/credentials.hpp"
#include "session/operation.hpp"
#include "session/server_list.hpp"

namespace zkrecipes::detail {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t longest_socket_path = 107;

void require_between(const char* field, milliseconds value, milliseconds low, milliseconds high) {
  if (value >= low && value <= high) return;
  throw std::invalid_argument("session_options::" + std::string(field) + " is " + std::to_string(value.count()) +
                              " ms; it must be from " + std::to_string(low.count()) + " to " +
                              std::to_string(high.count()) + " ms");
}

/// Asio copies the executor at every hop. A strand on the executor of an io_context fits into the buffer of
/// `any_io_executor`. A strand on an `any_io_executor` does not, so each copy of it is allocated.
asio::any_io_executor strand_on(const asio::any_io_executor& executor) {
  if (const auto* plain = executor.target<asio::io_context::executor_type>()) return asio::make_strand(*plain);
  return asio::make_strand(executor);
}

}  // namespace

const core_ptr& require_session(const session& over) {
  if (!over.get_core()) throw std::invalid_argument("session: it was made by default or moved from");
  return over.get_core();
}

void check(const session_options& options) {
  using namespace std::chrono_literals;
  parse_hosts(options.hosts);
  if (!options.root.empty()) require_path("session_options::root", options.root);
  require_between("timeout", options.timeout, 100ms, 1h);
  if (options.connect_timeout.count()) require_between("connect_timeout", options.connect_timeout, 1ms, 1h);
  if (options.lease_margin.count()) require_between("lease_margin", options.lease_margin, 1ms, options.timeout);
  require_between("retry.limit", options.retry.limit, 0ms, 24h);
  require_between("retry.first_pause", options.retry.first_pause, 1ms, 1h);
  require_between("retry.max_pause", options.retry.max_pause, options.retry.first_pause, 1h);
  if (options.jute_maxbuffer < 1u << 10 || options.jute_maxbuffer > 1u << 30) {
    throw std::invalid_argument("session_options::jute_maxbuffer is " + std::to_string(options.jute_maxbuffer) +
                                "; it must be from 1024 to 1073741824 bytes");
  }
  for (const auto& each : options.digest) {
    if (const auto problem = problem_with(each); !problem.empty()) {
      throw std::invalid_argument("session_options::digest: " + std::string(problem));
    }
  }
  if (bytes_of(options.digest) > most_credential_bytes)
    throw std::invalid_argument("session_options::digest: users and secrets have more than 65536 bytes together");
  const auto program = backend::guardian_program(options.guardian);
  if (has_nul(options.guardian)) throw std::invalid_argument("session_options::guardian: it has a NUL byte");
  if (program && program->empty()) {
    throw std::invalid_argument("session_options::guardian: \"child:\" needs the path or name of a program");
  }
  if (!program && options.guardian.size() > longest_socket_path) {
    throw std::invalid_argument("session_options::guardian: the path of a socket has at most 107 bytes");
  }
  if (options.tls && !options.guardian.empty()) {
    throw std::invalid_argument("session_options::guardian: the guardian does not speak TLS (session_options::tls)");
  }
  if (options.hang_limit.count()) require_between("hang_limit", options.hang_limit, 1s, 1h);
  if (options.hang_limit.count() && options.guardian.empty()) {
    throw std::invalid_argument("session_options::hang_limit: it needs session_options::guardian");
  }
  if (has_nul(options.default_acl)) {
    throw std::invalid_argument("session_options::default_acl: a scheme or an id must not contain a NUL byte");
  }
}

scheduler_ptr make_scheduler(const char* whose, const asio::any_io_executor& executor, const world_factory& world) {
  if (!executor) throw std::invalid_argument(std::string(whose) + " executor: it is empty");
  auto schedule = std::make_shared<scheduler>();
  schedule->base = executor;
  schedule->strand = strand_on(executor);
  schedule->world = world(schedule->strand);
  return schedule;
}

core_ptr make_core(const asio::any_io_executor& executor, session_options options, const world_factory& world) {
  check(options);
  auto schedule = make_scheduler("session", executor, world);
  schedule->reach = std::make_shared<reach_limit>(*schedule->world, options.retry.limit);
  auto real = std::make_shared<core>(schedule, std::move(options));
  asio::post(real->strand(), [real] { real->start(); });
  return core_ptr(real.get(), [real](core*) {
    asio::post(real->strand(), [real] { launch_detached(real->strand(), owning(real, &core::close)); });
  });
}

}  // namespace zkrecipes::detail
