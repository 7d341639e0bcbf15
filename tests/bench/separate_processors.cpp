#include "separate_processors.hpp"

#include <charconv>
#include <filesystem>
#include <string>

#include <sched.h>
#include <unistd.h>

#include "support/cluster.hpp"

namespace bench {

namespace {

/// The processors that this process may use at its start.
const cpu_set_t& all_processors() {
  static const cpu_set_t all = [] {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  return all;
}

int last_processor() {
  int last = -1;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all_processors())) last = i;
  }
  return last;
}

/// All threads of a process; those that it starts later do as the thread that starts them.
void move(pid_t process, const cpu_set_t& to) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    const auto name = each.path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    ::sched_setaffinity(thread, sizeof to, &to);  // fails for a thread that has just ended
  }
}

void move_servers(const cpu_set_t& to) {
  for (const auto& each : zkrecipes::test::cluster().nodes()) {
    if (each.pid != 0) move(each.pid, to);
  }
}

}  // namespace

separate_processors::separate_processors() {
  auto others = all_processors();
  CPU_CLR(last_processor(), &others);
  if (CPU_COUNT(&others) == 0) return;
  cpu_set_t last;
  CPU_ZERO(&last);
  CPU_SET(last_processor(), &last);
  move_servers(others);
  move(::getpid(), last);
}

separate_processors::~separate_processors() {
  move_servers(all_processors());
  move(::getpid(), all_processors());
}

}  // namespace bench
