#include "tls_folder.hpp"

#include <system_error>
#include <utility>

namespace testcluster::detail {

namespace fs = std::filesystem;

namespace {

fs::path made(fs::path folder) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  return folder;
}

}  // namespace

tls_folder::tls_folder(fs::path where)
    : folder_{made(std::move(where))}, signer_(folder_.path), client_(signer_.issue({.name = "client"})) {}

tls_folder::removed_folder::~removed_folder() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace testcluster::detail
