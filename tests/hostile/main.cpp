#define BOOST_TEST_MODULE hostile
#include <boost/test/unit_test.hpp>
