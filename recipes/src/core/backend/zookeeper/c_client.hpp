// The header of the C client, which Conan's package has without a folder.
#pragma once

#if __has_include(<zookeeper/zookeeper.h>)
#include <zookeeper/zookeeper.h>
#else
#include <zookeeper.h>
#endif
