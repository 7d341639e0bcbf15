# An overlay port of the tree that it stands in. In a registry vcpkg_from_github sets SOURCE_PATH.
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options
    FEATURES
        rabbitmq ZKRECIPES_RABBITMQ
        redis    ZKRECIPES_REDIS
        service  ZKRECIPES_SERVICE
        spool    ZKRECIPES_SPOOL
)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DZKRECIPES_BUILD_TOOLS=OFF
        -DZKRECIPES_WARNINGS_ARE_ERRORS=OFF
        ${feature_options}
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/zkrecipes)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
