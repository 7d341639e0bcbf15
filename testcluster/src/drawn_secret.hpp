#pragma once

#include <string>

namespace testcluster::detail {

/// 128 random bits as 32 hexadecimal digits. Throws testcluster::error if there are none.
std::string drawn_secret();

}  // namespace testcluster::detail
