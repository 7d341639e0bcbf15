#pragma once

#include <fstream>
#include <string>

#include "support.hpp"

/// A file with a text, for the length of a test.
class written_file {
 public:
  written_file(const std::string& name, const std::string& text) : path_((place_.path() / name).string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  const std::string& path() const { return path_; }

 private:
  scratch place_;
  std::string path_;
};
