// One object uses a file at a time, and others are told why not.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spool/file_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::spool_file;

namespace {

constexpr off_t our_byte = off_t{1} << 62;
constexpr auto owner_s = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;

/// Another process has a description of its own as well.
class other_description {
 public:
  explicit other_description(const std::string& path) : number_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    BOOST_TEST_REQUIRE(number_ >= 0);
  }
  other_description(const other_description&) = delete;
  other_description& operator=(const other_description&) = delete;
  ~other_description() { ::close(number_); }

  /// NFS takes it for a lock of all bytes, which would keep SQLite out.
  bool can_flock() const { return ::flock(number_, LOCK_EX | LOCK_NB) == 0; }
  bool can_lock(off_t begin, off_t size) const {
    struct flock bytes {};
    bytes.l_type = F_WRLCK;
    bytes.l_start = begin;
    bytes.l_len = size;
    BOOST_TEST_REQUIRE(::fcntl(number_, F_OFD_GETLK, &bytes) == 0);
    return bytes.l_type == F_UNLCK;
  }

 private:
  int number_;
};

/// Has the file open for as long as this lives.
class other_process {
 public:
  explicit other_process(const detail::spool_file_settings& settings) {
    int ends[2];
    BOOST_TEST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    pid_ = ::fork();
    BOOST_TEST_REQUIRE(pid_ >= 0);
    if (pid_ == 0) execute(settings, ends[1], ends[0]);
    ::close(ends[1]);
    end_ = ends[0];
    char told = 0;
    BOOST_TEST_REQUIRE(::read(end_, &told, 1) == 1);
    BOOST_TEST_REQUIRE(told == 'o');
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() {
    ::close(end_);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  [[noreturn]] static void execute(const detail::spool_file_settings& settings, int end, int end_of_parent) {
    ::close(end_of_parent);
    spool_file file(settings);
    char told = file.open({}).error ? 'r' : 'o';
    if (::write(end, &told, 1) == 1) (void)!::read(end, &told, 1);  // up to the end of the parent
    ::_exit(0);
  }

  pid_t pid_ = 0;
  int end_ = -1;
};

/// Root may write everywhere. This thread only becomes another user.
class as_nobody {
 public:
  as_nobody() { change(::geteuid() == 0 ? 65'534 : ::geteuid()); }
  as_nobody(const as_nobody&) = delete;
  as_nobody& operator=(const as_nobody&) = delete;
  ~as_nobody() { change(::geteuid()); }

 private:
  static void change(uid_t to) {
    ::setfsuid(to);
    BOOST_TEST_REQUIRE(::setfsuid(to) == static_cast<int>(to));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(spool_holding, file_case)

BOOST_AUTO_TEST_CASE(it_is_locked_also_when_code_of_this_process_has_closed_it) {
  spool_file file(settings());
  BOOST_TEST(!file.open({}).error);
  content();  // as a backup does: the system drops the locks of POSIX
  spool_file second(settings());
  const auto refused = second.open({});
  BOOST_TEST((refused.error == spool_errc::locked), refused.trouble);
  const other_description other(path());
  BOOST_TEST(!other.can_lock(our_byte, 1));
  BOOST_TEST(other.can_lock(0, our_byte));
  BOOST_TEST(other.can_flock());
  BOOST_TEST(!file.commit(rows(1, 1)).error);
  file.close();
  BOOST_TEST(other.can_lock(our_byte, 1), "it is free");
}

BOOST_AUTO_TEST_CASE(one_that_another_process_has_locked_is_not_opened) {
  spool_file(settings()).open({});
  spool_file file(settings());
  {
    const other_process other(settings());
    const auto refused = file.open({});
    BOOST_TEST((refused.error == spool_errc::locked), refused.trouble);
    BOOST_TEST(refused.trouble.find("another process") != refused.trouble.npos, refused.trouble);
  }
  BOOST_TEST(!file.open({}).error);
}

BOOST_AUTO_TEST_CASE(where_a_symbolic_link_leads_only_the_owner_may_read_what_is_made) {
  auto link = settings();
  link.file = path() + ".link";
  std::filesystem::create_symlink(path(), link.file);
  const auto before = umask(0);
  spool_file file(link);
  BOOST_TEST(!file.open({}).error);
  BOOST_TEST(!file.commit(rows(1, 1)).error);
  umask(before);
  BOOST_TEST((std::filesystem::status(path()).permissions() == owner_s));
  BOOST_TEST((std::filesystem::status(path() + "-wal").permissions() == owner_s));
  spool_file direct(settings());
  BOOST_TEST((direct.open({}).error == spool_errc::locked), "the same file");
}

BOOST_AUTO_TEST_CASE(one_that_may_only_be_read_is_told_as_such) {
  spool_file(settings()).open({});
  std::filesystem::permissions(path(), std::filesystem::perms(0444));
  std::filesystem::permissions(std::filesystem::path(path()).parent_path(), std::filesystem::perms(0755));
  spool_file file(settings());
  {
    const as_nobody now;
    const auto refused = file.open({});
    BOOST_TEST((refused.error == spool_errc::no_access), refused.error.message());
    BOOST_TEST(refused.trouble.find("Permission denied") != refused.trouble.npos, refused.trouble);
  }
  std::filesystem::permissions(path(), owner_s);
  BOOST_TEST(!file.open({}).error);
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_refused) {
  auto with = settings();
  for (const std::string& each : {std::string("/dev/null"), std::filesystem::path(path()).parent_path().string()}) {
    with.file = each;
    spool_file file(with);
    BOOST_TEST((file.open({}).error == spool_errc::no_access), each);
  }
}

BOOST_AUTO_TEST_SUITE_END()
