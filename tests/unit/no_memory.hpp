// Allocations of Boost.Asio that fail where a test wants it.
#pragma once

namespace zkrecipes::test {

/// So many of those that follow fail, while this lives. Outside of `run()`, where Asio keeps no memory back.
class no_memory {
 public:
  explicit no_memory(int failures);
  no_memory(const no_memory&) = delete;
  ~no_memory();
};

}  // namespace zkrecipes::test
