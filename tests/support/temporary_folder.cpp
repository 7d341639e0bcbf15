#include "support/temporary_folder.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace zkrecipes::test {

namespace fs = std::filesystem;

temporary_folder::temporary_folder() {
  std::string name = (fs::temp_directory_path() / "zkrecipes-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("could not make a folder");
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace zkrecipes::test
