#include "scratch.hpp"

#include <string>
#include <system_error>

#include <unistd.h>

namespace demo {

scratch::scratch() : path_(std::filesystem::temp_directory_path() / ("zkrecipes-demo-" + std::to_string(::getpid()))) {
  std::filesystem::create_directories(path_);
}

scratch::~scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace demo
