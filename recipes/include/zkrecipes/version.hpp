// The version of the library. This file is the only place that states it: CMake reads the three numbers from here.
#pragma once

#include <string_view>

#include <zkrecipes/detail/requirements.hpp>

#define ZKRECIPES_VERSION_MAJOR 0
#define ZKRECIPES_VERSION_MINOR 1
#define ZKRECIPES_VERSION_PATCH 0

/// The version as one number that can be compared: 203 is version 0.2.3.
#define ZKRECIPES_VERSION (ZKRECIPES_VERSION_MAJOR * 10000 + ZKRECIPES_VERSION_MINOR * 100 + ZKRECIPES_VERSION_PATCH)

#define ZKRECIPES_DETAIL_TEXT_OF(number) #number
#define ZKRECIPES_DETAIL_JOINED(major_, minor_, patch_) \
  ZKRECIPES_DETAIL_TEXT_OF(major_) "." ZKRECIPES_DETAIL_TEXT_OF(minor_) "." ZKRECIPES_DETAIL_TEXT_OF(patch_)

/// The version as a string literal, such as "0.2.3".
#define ZKRECIPES_VERSION_STRING \
  ZKRECIPES_DETAIL_JOINED(ZKRECIPES_VERSION_MAJOR, ZKRECIPES_VERSION_MINOR, ZKRECIPES_VERSION_PATCH)

/// Asynchronous ZooKeeper recipes on Boost.Asio. `session` is the connection; each recipe is a class that takes one.
namespace zkrecipes {

/// The version of these headers. A program that was linked to a shared library of another minor version does not start,
/// because the name of the shared library contains both numbers (docs/install.md).
inline constexpr std::string_view version = ZKRECIPES_VERSION_STRING;

}  // namespace zkrecipes
