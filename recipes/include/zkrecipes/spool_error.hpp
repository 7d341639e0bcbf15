// What can be wrong with the file of a spooled producer.
#pragma once

#include <boost/system/error_code.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// `spool_status::trouble` names the file, what the system said of it, and the cure.
enum class spool_errc {
  disk_full = 1,  ///< There is no room for the file. What was confirmed is kept. It is tried again each second.
  io_failed,      ///< The file could not be read, written or synced. It is opened and read again each second.
  no_access,      ///< The file could not be opened or made: its folder is missing, or it is not ours to write.
  locked,         ///< Another process, or another object of this one, has the file.
  foreign_file,   ///< Not a spool, or that of another path or name, or made by a later version. It is left as it is.
  corrupt,        ///< The file is damaged, or has lost what was confirmed. It is left as it is.
};

/// The category of `spool_errc`; its name is "zkrecipes.spool".
const boost::system::error_category& spool_category() noexcept;

error_code make_error_code(spool_errc value) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::spool_errc> : std::true_type {};
