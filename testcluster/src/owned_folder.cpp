#include "owned_folder.hpp"

#include <system_error>
#include <utility>

namespace testcluster::detail {

namespace fs = std::filesystem;

owned_folder::owned_folder(fs::path where) : path_(std::move(where)) {
  fs::create_directory(path_);
  fs::permissions(path_, fs::perms::owner_all);
}

owned_folder::~owned_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace testcluster::detail
