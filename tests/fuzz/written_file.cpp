#include "written_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace fuzz {

namespace fs = std::filesystem;

written_file::written_file(const std::string& name)
    : name_(name), folder_(fs::temp_directory_path() / "zkrecipes-fuzz-XXXXXX") {
  if (!::mkdtemp(folder_.data())) throw std::system_error(errno, std::generic_category(), folder_);
}

written_file::~written_file() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void written_file::write(std::string_view content) const {
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << content;
}

}  // namespace fuzz
