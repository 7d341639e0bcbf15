#include "hostile/memory_search.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace zkrecipes::test {

namespace {

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process) + "/"; }

std::size_t count_in(const std::string& bytes, const std::string& text) {
  std::size_t count = 0;
  for (auto at = bytes.find(text); at != bytes.npos; at = bytes.find(text, at + 1)) ++count;
  return count;
}

/// The part of the memory that a line of /proc/PID/maps describes; empty if it can not be written, or not be read, as
/// that of the kernel.
std::string bytes_of(int memory, const std::string& line) {
  std::istringstream fields(line);
  std::size_t begin = 0, end = 0;
  char dash = 0;
  std::string rights;
  fields >> std::hex >> begin >> dash >> end >> rights;
  if (!rights.starts_with("rw") || line.find("[v") != line.npos) return {};
  std::string bytes(end - begin, '\0');
  const auto size = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(begin));
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

}  // namespace

std::size_t count_in_memory(pid_t process, const std::string& text) {
  const int memory = ::open((folder_of(process) + "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) throw std::runtime_error("the memory of the process can not be read");
  std::ifstream maps(folder_of(process) + "maps");
  std::size_t count = 0, seen = 0;
  for (std::string line; std::getline(maps, line);) {
    const auto bytes = bytes_of(memory, line);
    seen += bytes.size();
    count += count_in(bytes, text);
  }
  ::close(memory);
  if (seen == 0) throw std::runtime_error("the process has no memory");
  return count;
}

std::string file_of_process(pid_t process, const std::string& name) {
  std::ifstream file(folder_of(process) + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace zkrecipes::test
