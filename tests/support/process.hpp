// What a process has open and running, and waiting for the world outside of it.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

namespace zkrecipes::test {

/// Looks again and again. False: it did not come true before the deadline.
bool wait_until(const std::function<bool()>& condition,
                std::chrono::milliseconds deadline = std::chrono::seconds(30));

std::size_t thread_count();

/// Open descriptors with what they refer to, such as "7 socket:[4711]". That of the look itself is left out.
std::set<std::string> open_descriptors();

}  // namespace zkrecipes::test
