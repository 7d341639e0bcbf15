#include "step_log.hpp"

#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace demo {

step_log::step_log(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), file.string());
}

step_log::~step_log() { ::close(file_); }

void step_log::record(const step_mark& what) {
  const auto line = std::to_string(static_cast<int>(what.what)) + ' ' + std::to_string(what.before_ns) + ' ' +
                    std::to_string(what.after_ns) + ' ' + std::to_string(what.position) + " .\n";
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::system_error(errno, std::generic_category(), "step log");
  }
}

std::vector<step_mark> read_steps(const std::filesystem::path& file) {
  std::vector<step_mark> marks;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    step_mark mark;
    int kind = 0;
    std::string end;
    if (!(fields >> kind >> mark.before_ns >> mark.after_ns >> mark.position >> end) || end != ".") continue;
    mark.what = static_cast<step_mark::kind>(kind);
    marks.push_back(mark);
  }
  return marks;
}

}  // namespace demo
