// Questions about descriptors.
#include "backend/zookeeper/descriptors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

using zkrecipes::backend::same_file;

namespace {

ino_t inode_of(int descriptor) {
  struct ::stat seen {};
  BOOST_TEST_REQUIRE(::fstat(descriptor, &seen) == 0);
  return seen.st_ino;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(descriptors)

/// The roots of file systems of the kernel have the same number.
BOOST_AUTO_TEST_CASE(an_inode_of_another_device_is_another_file) {
  const int proc = ::open("/proc", O_RDONLY | O_CLOEXEC);
  const int sys = ::open("/sys", O_RDONLY | O_CLOEXEC);
  const int again = ::open("/proc", O_RDONLY | O_CLOEXEC);
  BOOST_TEST_REQUIRE(inode_of(proc) == inode_of(sys));
  BOOST_TEST(!same_file(proc, sys));
  BOOST_TEST(same_file(proc, again));
  for (const int each : {proc, sys, again}) ::close(each);
}

BOOST_AUTO_TEST_SUITE_END()
