#include "commands/errand.hpp"

#include <memory>
#include <ostream>
#include <utility>

#include "commands/bounded.hpp"
#include "commands/contact.hpp"

namespace zkadmin {
namespace {

/// The command and its task share it.
struct errand_contact : contact {
  errand_contact(const settings& with, errand what) : contact(with, "nodes"), work(std::move(what)) {}
  errand work;
};

boost::asio::awaitable<void> run(std::shared_ptr<errand_contact> with, deadline limit) {
  co_await make_contact(with);
  co_await with->work(*with->session, middle(limit));
}

}  // namespace

std::optional<failure> run_errand(surroundings& around, const settings& wanted, errand work) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto with = std::make_shared<errand_contact>(wanted, std::move(work));
  std::optional<failure> trouble;
  try {
    run_task(around.io, limit, *with, run(with, limit));
  } catch (const failure& error) {
    trouble = error;
  }
  end_contact(around.io, *with, limit);
  return trouble;
}

void finish_output(surroundings& around) {
  around.out << std::flush;
  if (!around.out) throw failure(exit_code::error, "the output could not be written");
}

}  // namespace zkadmin
