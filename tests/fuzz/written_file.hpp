// A file for parsers that read files.
#pragma once

#include <string>
#include <string_view>

namespace fuzz {

/// A file in a folder of its own, which goes with the object.
class written_file {
 public:
  explicit written_file(const std::string& name = "input");
  ~written_file();
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;

  std::string path() const { return folder_ + "/" + name_; }
  const std::string& folder() const { return folder_; }
  /// Replaces the content.
  void write(std::string_view content) const;

 private:
  std::string name_;
  std::string folder_;
};

}  // namespace fuzz
