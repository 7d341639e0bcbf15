#define BOOST_TEST_MODULE session
#include <boost/test/unit_test.hpp>
