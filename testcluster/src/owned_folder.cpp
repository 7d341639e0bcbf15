#include "owned_folder.hpp"

#include <system_error>
#include <utility>

namespace testcluster::detail {

tls_folder::tls_folder(std::filesystem::path where)
    : folder_(std::move(where)), signer_(folder_.path()), client_(signer_.issue({.name = "client"})) {}

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
