// The threads and open descriptors of this process, and waiting for things outside of it.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

namespace zkrecipes::test {

/// Looks again and again until the condition holds. False if it does not hold before the deadline.
bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds deadline = std::chrono::seconds(30));

std::size_t thread_count();

/// Open descriptors and their targets, such as "7 socket:[4711]". The descriptor that this call itself opens is left
/// out.
std::set<std::string> open_descriptors();

}  // namespace zkrecipes::test
