// How a public name says that a later version will not have it: see docs/install.md, "Versions and the ABI".
#pragma once

#include <zkrecipes/detail/requirements.hpp>

/// In front of a declaration: `ZKRECIPES_DEPRECATED("use async_acquire")`. A program that defines it as empty before it
/// includes the library gets no warning.
#ifndef ZKRECIPES_DEPRECATED
#define ZKRECIPES_DEPRECATED(instead) [[deprecated(instead)]]
#endif
