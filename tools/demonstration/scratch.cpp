#include "scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace demo {

scratch::scratch() {
  auto name = (std::filesystem::temp_directory_path() / "zkrecipes-demo-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

scratch::~scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace demo
