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
    : path_(made(std::move(where))), signer_(path_), client_(signer_.issue({.name = "client"})) {}

tls_folder::~tls_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace testcluster::detail
