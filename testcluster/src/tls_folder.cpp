#include "tls_folder.hpp"

#include <utility>

namespace testcluster::detail {

tls_folder::tls_folder(std::filesystem::path where)
    : folder_(std::move(where)), signer_(folder_.path()), client_(signer_.issue({.name = "client"})) {}

}  // namespace testcluster::detail
