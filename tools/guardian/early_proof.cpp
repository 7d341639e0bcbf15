#include "early_proof.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace guardian {

namespace {

constexpr unsigned long exiting_flag = 0x4;    // PF_EXITING
constexpr unsigned long dumped_flag = 0x8;     // PF_POSTCOREDUMP, since Linux 5.16: waits for the end of the dump
constexpr unsigned long dumping_flag = 0x200;  // PF_DUMPCORE: writes the dump

struct thread_facts {
  std::string number;
  unsigned long flags = 0;
  std::size_t count = 0;  // of threads in the process
};

std::string read_at(int folder, const std::string& name) {
  const descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const auto size = file ? ::read(file.get(), part.data(), part.size()) : 0;
    if (size <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

std::optional<thread_facts> facts_of(int tasks, const std::string& number) {
  const auto line = read_at(tasks, number + "/stat");
  const auto end_of_name = line.rfind(')');
  if (end_of_name == line.npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_name + 1));
  thread_facts found;
  found.number = number;
  std::string skipped;
  for (int i = 3; i < 9; ++i) fields >> skipped;
  fields >> found.flags;
  for (int i = 10; i < 20; ++i) fields >> skipped;
  fields >> found.count;
  // None: the kernel has released the thread, such as the first one when another executes a program, and shows nothing.
  return fields && found.count > 0 ? std::optional(std::move(found)) : std::nullopt;
}

/// Nothing if the list may be incomplete: the kernel can skip a thread while others end.
std::optional<std::vector<thread_facts>> threads_of(int process_folder) {
  descriptor folder(::openat(process_folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(::dup(folder.get())), &::closedir);
  std::vector<thread_facts> all;
  while (const auto* each = listing ? ::readdir(listing.get()) : nullptr) {
    if (each->d_name[0] == '.') continue;
    auto facts = facts_of(folder.get(), each->d_name);
    if (!facts) return std::nullopt;
    all.push_back(std::move(*facts));
  }
  const auto is_counted = [&](const thread_facts& each) { return each.count <= all.size(); };
  return !all.empty() && std::ranges::all_of(all, is_counted) ? std::optional(std::move(all)) : std::nullopt;
}

bool are_exiting(const std::vector<thread_facts>& threads) {
  return std::ranges::all_of(threads, [](const thread_facts& each) { return each.flags & exiting_flag; });
}

bool are_stopped_by_dump(const std::vector<thread_facts>& threads) {
  const auto waits = [](const thread_facts& each) { return each.flags & (exiting_flag | dumped_flag); };
  const auto others = std::ranges::count_if(threads, waits);
  const auto writes = [&](const thread_facts& each) { return !waits(each) && each.flags & dumping_flag; };
  return static_cast<std::size_t>(others) + 1 == threads.size() && std::ranges::any_of(threads, writes);
}

bool says_dumping(int process_folder) {
  return read_at(process_folder, "status").find("\nCoreDumping:\t1\n") != std::string::npos;
}

early_sign sign_of(int process_folder, const std::vector<thread_facts>& threads) {
  if (are_exiting(threads)) return early_sign::exiting;
  return are_stopped_by_dump(threads) && says_dumping(process_folder) ? early_sign::dumping : early_sign::none;
}

bool are_the_same(const std::vector<thread_facts>& one, const std::vector<thread_facts>& other) {
  return std::ranges::equal(one, other, {}, &thread_facts::number, &thread_facts::number);
}

/// A child that waits until the pipe is closed.
pid_t start_child(int pipe_end, int other_end) {
  const auto child = ::fork();
  if (child != 0) return child;
  ::close(other_end);
  char nothing;
  while (::read(pipe_end, &nothing, 1) > 0) {
  }
  ::_exit(0);
}

}  // namespace

descriptor open_process_folder(int pid) {
  return descriptor(::open(("/proc/" + std::to_string(pid)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Two looks, because a thread that was made during the first one may be missing in it. A thread that exits makes none,
/// so whatever the threads of the first look have made is there before the second.
early_sign look_early(int process_folder) {
  const auto first = threads_of(process_folder);
  if (!first || sign_of(process_folder, *first) == early_sign::none) return early_sign::none;
  const auto second = threads_of(process_folder);
  if (!second || !are_the_same(*first, *second)) return early_sign::none;
  return sign_of(process_folder, *second);
}

std::string early_proof_problem() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe for the test";
  const descriptor read_end(ends[0]);
  descriptor write_end(ends[1]);
  const auto child = start_child(read_end.get(), write_end.get());
  if (child < 0) return "no child for the test";
  const auto folder = open_process_folder(child);
  const bool shows_life = folder && threads_of(folder.get()) && look_early(folder.get()) == early_sign::none;
  const bool reports_dumps = folder && read_at(folder.get(), "status").find("\nCoreDumping:\t0\n") != std::string::npos;
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const bool shows_death = folder && look_early(folder.get()) == early_sign::exiting;
  ::waitpid(child, nullptr, 0);
  if (!shows_life) return "/proc shows a living child as dead, or does not show its threads";
  if (!shows_death) return "/proc does not show PF_EXITING of a child that has exited";
  return reports_dumps ? std::string() : "/proc does not tell of core dumps (CoreDumping)";
}

}  // namespace guardian
