# Tells find_package() the version.  It is written once, in swbuild/__init__.py; wheels and vendored copies
# carry it in swbuildVersion.cmake, which is generated.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/swbuildVersion.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/swbuildVersion.cmake")
else()
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../swbuild/__init__.py" PACKAGE_VERSION REGEX "^__version__ = ")
  string(REGEX REPLACE "^__version__ = \"([0-9.]+).*" "\\1" PACKAGE_VERSION "${PACKAGE_VERSION}")
endif()

# Up to 1.0 a minor version may break what the one before it promised; later, only a major one may.
set(_swbuild_significant "^[0-9]+")
if(PACKAGE_VERSION VERSION_LESS 1.0)
  set(_swbuild_significant "^[0-9]+\\.[0-9]+")
endif()

set(PACKAGE_VERSION_EXACT FALSE)
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION_RANGE)
  if(NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MIN
      AND ((PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE"
          AND NOT PACKAGE_VERSION VERSION_GREATER PACKAGE_FIND_VERSION_MAX)
        OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE"
          AND PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX)))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
elseif(NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  string(REGEX MATCH "${_swbuild_significant}" _swbuild_have "${PACKAGE_VERSION}")
  string(REGEX MATCH "${_swbuild_significant}" _swbuild_want "${PACKAGE_FIND_VERSION}.0")
  if(NOT PACKAGE_FIND_VERSION OR _swbuild_have STREQUAL _swbuild_want)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
unset(_swbuild_significant)
unset(_swbuild_have)
unset(_swbuild_want)
