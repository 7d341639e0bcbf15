#define BOOST_TEST_MODULE testcluster
#include <boost/test/unit_test.hpp>
