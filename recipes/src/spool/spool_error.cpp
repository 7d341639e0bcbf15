#include <zkrecipes/spool/spooled_producer.hpp>

namespace zkrecipes {

namespace {

const char* text(spool_errc value) noexcept {
  switch (value) {
    case spool_errc::disk_full: return "there is no room for the file of the spool";
    case spool_errc::io_failed: return "the file of the spool could not be read, written or synced";
    case spool_errc::no_access: return "the file of the spool could not be opened or made";
    case spool_errc::locked: return "another process or object has the file of the spool";
    case spool_errc::foreign_file: return "the file is not the spool of this producer";
    case spool_errc::corrupt: return "the file of the spool is damaged";
  }
  return "unknown error";
}

struct category final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.spool"; }
  std::string message(int value) const override { return text(static_cast<spool_errc>(value)); }
};

}  // namespace

const boost::system::error_category& spool_category() noexcept {
  static const category instance;
  return instance;
}

error_code make_error_code(spool_errc value) noexcept { return {static_cast<int>(value), spool_category()}; }

}  // namespace zkrecipes
