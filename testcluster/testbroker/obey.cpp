#include "obey.hpp"

#include <exception>
#include <iostream>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "command/printable.hpp"

namespace testcluster::command {
namespace {

void carry_out_one(ordered_broker& broker, const std::string& order) {
  try {
    std::cout << broker.carry_out(order) << std::endl;
  } catch (const std::exception& problem) {
    std::cerr << "testbroker: " << printable_lines(problem.what()) << std::endl;
  }
}

}  // namespace

void obey(ordered_broker& broker, signals& arriving) {
  std::string text;
  for (;;) {
    pollfd both[2] = {{STDIN_FILENO, POLLIN, 0}, {arriving.descriptor(), POLLIN, 0}};
    ::poll(both, 2, -1);
    while (const auto found = arriving.next()) {
      if (found->ssi_signo != SIGCHLD) return;  // that is the broker, which was killed
    }
    if (both[0].revents == 0) continue;
    char some[4096];
    const auto size = ::read(STDIN_FILENO, some, sizeof some);
    if (size <= 0) return;
    text.append(some, static_cast<std::size_t>(size));
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      const auto order = text.substr(0, end);
      text.erase(0, end + 1);
      carry_out_one(broker, order);
    }
  }
}

}  // namespace testcluster::command
