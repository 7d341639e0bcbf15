// The files of `tls_options`, and OpenSSL's form of what they hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/tls_options.hpp>

#include "backend/tls/tls_handles.hpp"

namespace zkrecipes::backend {

/// Reads the files. \throws std::invalid_argument that names the field and the file. The message never holds what
/// stands in a file.
ssl_context_handle load_tls_files(const tls_options& options);

/// Reading a FIFO again, or a device, could stop the executor for ever. \throws as `load_tls_files` does.
void require_files(const tls_options& options);

/// What tells that a file has changed. Equal for files that could not be looked at.
struct file_stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t written = 0;  ///< Nanoseconds.
  std::int64_t changed = 0;  ///< The same, of the inode.
  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// The stamps of all files of `options`, in a fixed order.
std::vector<file_stamp> tls_file_stamps(const tls_options& options);

}  // namespace zkrecipes::backend
