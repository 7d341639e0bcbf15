#define BOOST_TEST_MODULE spool
#include <boost/test/unit_test.hpp>
