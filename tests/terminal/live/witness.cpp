// A command for `zkadmin lock`: notes when it begins and, again and again, that it lives, in a file that outlasts it.
//
//   hold_witness FILE [stubborn] [child FILE]
//
// stubborn: it ignores SIGTERM. child: it starts another one in a session of its own, with the same stubbornness.
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zkrecipes/lease_clock.hpp>

#include "live/testimony.hpp"

namespace {

std::int64_t now() { return zkrecipes::lease_clock::now().time_since_epoch().count(); }

testimony* open_file(const char* name) {
  const int file = ::open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(testimony)) != 0) ::_exit(9);
  void* const memory = ::mmap(nullptr, sizeof(testimony), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) ::_exit(9);
  return static_cast<testimony*>(memory);
}

[[noreturn]] void live(const char* name) {
  auto* const said = open_file(name);
  said->begin = now();
  for (;;) {
    said->alive = now();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* child = nullptr;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "stubborn") == 0) std::signal(SIGTERM, SIG_IGN);
    if (std::strcmp(argv[i], "child") == 0 && i + 1 < argc) child = argv[i + 1];
  }
  if (argc < 2) return 2;
  if (child && ::fork() == 0) {
    ::setsid();
    live(child);
  }
  live(argv[1]);
}
