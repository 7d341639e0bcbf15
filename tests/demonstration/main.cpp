#define BOOST_TEST_MODULE demonstration
#include <boost/test/unit_test.hpp>
