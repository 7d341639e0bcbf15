// What a program that uses the library has to be compiled with. Every header that includes no other one includes this
// one, so it comes first, and a mistake is told in one line.
#pragma once

#if __cplusplus < 202002L
#error "zkrecipes needs C++20: compile with -std=c++20"
#include <zkrecipes/needs_cxx20>  // missing, which ends the compilation: hundreds of errors would follow
#endif

#include <boost/version.hpp>

#if BOOST_VERSION < 108100
#error "zkrecipes needs Boost 1.81 or a newer one"
#include <zkrecipes/needs_boost_1.81>
#endif

// Asio's types are part of the interface. CMake compares the versions itself.
#if defined(ZKRECIPES_BOOST_SERIES) && ZKRECIPES_BOOST_SERIES != BOOST_VERSION / 100
#error "zkrecipes was compiled with another version of Boost (ZKRECIPES_BOOST_SERIES: 1081 is 1.81)"
#include <zkrecipes/was_compiled_with_another_boost>
#endif
