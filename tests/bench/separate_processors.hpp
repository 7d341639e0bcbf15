// The servers and this process, each on processors of their own.
#pragma once

namespace bench {

/// As long as it lives, this process has the last processor for itself, and the servers have the others. Otherwise a
/// client that needs more time of a processor takes it from the servers, and its rate tells nothing of a machine that
/// has no server on it. Does nothing on a machine of one processor.
class separate_processors {
 public:
  separate_processors();
  ~separate_processors();
  separate_processors(const separate_processors&) = delete;
  separate_processors& operator=(const separate_processors&) = delete;
};

}  // namespace bench
