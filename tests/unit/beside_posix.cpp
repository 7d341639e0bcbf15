// The names of the library do not clash with those of POSIX, also if all of them are brought in.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/zkrecipes.hpp>

using namespace zkrecipes;

BOOST_AUTO_TEST_SUITE(beside_posix)

BOOST_AUTO_TEST_CASE(the_stat_of_posix_is_not_hidden) {
  struct stat root {};
  BOOST_TEST(stat("/", &root) == 0);
  BOOST_TEST(S_ISDIR(root.st_mode));
  BOOST_TEST((node_data().stat == node_stat()));
}

BOOST_AUTO_TEST_SUITE_END()
